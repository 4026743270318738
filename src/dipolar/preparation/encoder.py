"""The transformer that makes covariates of columns as people have them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from dipolar.model_file import plain_parameters, restored_parameters
from dipolar.parameters import check_number
from dipolar.preparation.choice import Choice
from dipolar.preparation.columns import Column, is_frame, read_columns
from dipolar.preparation.decisions import Decision, decide
from dipolar.preparation.feature import Condition, Feature, say_conditions
from dipolar.preparation.recipes import Recipe, recipe_from_json
from dipolar.preparation.tally import Tally
from dipolar.validation import check_sample_weight
from dipolar.words import counted, listed, suggestion

__all__ = ["CovariateEncoder", "Prepared"]

FORMAT = "dipolar-preparation"

# Raised when a reader of the old version could no longer understand a new file.
VERSION = 2

MOST_COLUMNS = 2**24

# How many columns with odd cells a message lists.
COLUMNS_SHOWN = 8


@dataclass(frozen=True)
class Prepared:
    """Covariates, and what had to be done to get them."""

    X: Any  # float64, in a DataFrame if the table was one
    filled: list[str]  # gaps, in words
    odd: list[str]  # cells that were not understood, in words


class CovariateEncoder(TransformerMixin, BaseEstimator):
    """Make covariates of columns as people have them: numbers, booleans, categories, dates, text, with gaps.

    What becomes of a column is decided by its type and its cells, and recorded in words (:meth:`describe`):

    - numbers stay as they are, also where they are stored as text with few slips; booleans become 0 and 1;
    - categories and text of few values become an indicator of every level but the reference;
    - ordered categories become 0, 1, 2, ... in their order;
    - dates are left out, or become days since the first (`dates`);
    - gaps are filled with the median or the most common level of the training rows, and marked by an indicator where
      there are many of them (`add_indicator`), or left as they are (`missing`);
    - columns that are constant or empty, identifiers, and free text are left out.

    Parameters
    ----------
    only : collection of str, default=None
        The columns to take, and no others; a column named here is taken even if it looks like an identifier.
    drop : collection of str, or dict of name to reason, default=None
        Columns to leave out.
    categorical : collection of str, default=None
        Columns whose numbers or texts are names of categories, however many there are.
    ordinal : dict of name to order, or collection of str, default=None
        Columns of ordered categories, with all levels from the lowest to the highest. Without an order, or with None
        for it, the one of the column's type is taken, or that of numbers or of the alphabet.
    dates : {"drop", "days"}, default="drop"
        What becomes of dates. A date of death or of the last visit would tell the outcome.
    missing : {"fill", "keep"}, default="fill"
        Whether gaps are filled. Models that learn from gaps (log-rank trees and forests) want them kept, as NaN.
    add_indicator : {"auto", True, False}, default="auto"
        Whether one more covariate marks the gaps of a column that are filled: "auto" where at least 5 % of the training
        rows, and at least 10 of them, have a gap; True where any has.
    reference : {"most_common", "first", None}, default="most_common"
        The level without an indicator: the most common, or the first in the order of the type or of the alphabet. With
        None every level has one, unless there are two levels only.
    min_frequency : int or float, default=None
        Levels that occur less often share one indicator. A number below 1 is a share of the rows with a level.
    max_levels : int, default=30
        Text of more different values is free text, and left out.
    handle_unknown : {"warn", "error", "ignore"}, default="warn"
        What to do about cells that the training rows do not explain: a new category, text among numbers. Unless it is
        an error, they are treated as gaps.

    Attributes
    ----------
    decisions_ : tuple of Decision
        What became of every column: `column`, `kind`, `done`, `gaps`; :meth:`decision_frame` has them as a table.
    features_ : tuple of Feature
        For every covariate the column it was made from, the level it stands for, and its kind.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns; only if `X` has names that are strings.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A DataFrame becomes a DataFrame of the same library with the same index, so that models know the names of their
    covariates; an array becomes an array. `set_output` chooses otherwise. Results do not depend on the order of rows.

    Empty text and ``NA``, ``N/A``, ``NaN``, ``null``, ``missing``, ``.``, ``-`` and ``?`` are gaps. Where one of these
    is a category, make the column a categorical one: its levels are left as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from dipolar import CovariateEncoder
    >>> X = pd.DataFrame({"age": [61, 70, None, 58], "sex": ["m", "f", "m", "m"], "stage": ["I", "II", "II", "III"]})
    >>> encoder = CovariateEncoder().fit(X)
    >>> encoder.transform(X)
        age  sex=f  stage=I  stage=III
    0  61.0    0.0      1.0        0.0
    1  70.0    1.0      0.0        0.0
    2  61.0    0.0      0.0        0.0
    3  58.0    0.0      0.0        1.0
    >>> print(encoder.describe())
    age: numbers; 1 missing value set to 61, the median
    sex: categories; f against m, the most common
    stage: categories; I and III against II, the most common
    >>> encoder.say(("stage=III", 0.5, False), ("sex=f", 0.5, True))
    'stage is I or II and sex is f'
    """

    def __init__(
        self,
        *,
        only: Collection[str] | None = None,
        drop: Collection[str] | Mapping[str, str] | None = None,
        categorical: Collection[str] | None = None,
        ordinal: Mapping[str, Any] | Collection[str] | None = None,
        dates: str = "drop",
        missing: str = "fill",
        add_indicator: bool | str = "auto",
        reference: str | None = "most_common",
        min_frequency: float | None = None,
        max_levels: int = 30,
        handle_unknown: str = "warn",
    ) -> None:
        self.only = only
        self.drop = drop
        self.categorical = categorical
        self.ordinal = ordinal
        self.dates = dates
        self.missing = missing
        self.add_indicator = add_indicator
        self.reference = reference
        self.min_frequency = min_frequency
        self.max_levels = max_levels
        self.handle_unknown = handle_unknown

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Decide what becomes of every column.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array-like of shape (n_samples, n_features)
            Columns as they come.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self : CovariateEncoder
        """
        choice = Choice.of(self.get_params())
        columns = self._read(X, reset=True)
        choice.check_names([column.name for column in columns])
        weight = check_sample_weight(sample_weight, len(columns[0].cells))
        seen = weight > 0
        if not seen.any():
            raise ValueError("sample_weight is zero in every row. At least one row needs a positive weight.")
        tally = Tally(weight[seen])
        decided = [decide(column.take(seen), place, choice, tally) for place, column in enumerate(columns)]
        self._set(tuple(recipe for recipe, _ in decided if recipe), tuple(decision for _, decision in decided))
        return self

    def transform(self, X: Any) -> Any:
        """Return the covariates of a table: float64, in a DataFrame if X is one."""
        prepared = self.prepare(X)
        self._complain(prepared.odd)
        return prepared.X

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to X, and return its covariates; cells that are not understood are told by :meth:`describe`."""
        return self.fit(X, y, sample_weight).prepare(X).X

    def prepare(self, X: Any) -> Prepared:
        """Return the covariates of a table, and what had to be done to its cells in words, without warnings."""
        check_is_fitted(self)
        columns = self._read(X, reset=False)
        keep_gaps = self.missing == "keep"
        encoded = {recipe: recipe.encode(columns[recipe.place], keep_gaps=keep_gaps) for recipe in self.recipes_}
        filled = [
            f"{recipe.name}: {counted(part.n_gaps, 'missing value')} set to {recipe.fill_words}"
            for recipe, part in encoded.items()
            if part.n_gaps and not keep_gaps
        ]
        odd = [f"{recipe.name}: {part.odd}" for recipe, part in encoded.items() if part.odd]
        values = np.column_stack([part.values for part in encoded.values()])
        return Prepared(self._like(X, values), filled, odd)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the covariates.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where X had none.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        renamed = [recipe.renamed(str(names[recipe.place])) for recipe in self.recipes_]
        return np.array([feature.name for feature in _features_of(renamed)], dtype=object)

    def describe(self) -> str:
        """Return in words what becomes of every column, one line each."""
        check_is_fitted(self)
        return "\n".join(decision.words() for decision in self.decisions_)

    def decision_frame(self) -> pd.DataFrame:
        """Return what becomes of every column as a table."""
        check_is_fitted(self)
        return pd.DataFrame([decision.to_json() for decision in self.decisions_])

    def say(self, *conditions: tuple[str | int, float, bool]) -> str:
        """Return in words of the columns what conditions on covariates say.

        Parameters
        ----------
        *conditions : tuple of (covariate, threshold, above)
            The covariate by its name or number, and whether it is above the threshold or not.

        Examples
        --------
        `encoder.say(("sex=m", 0.5, False))` is ``"sex is f"``.
        """
        return " and ".join(self.phrases(conditions))

    def phrases(self, conditions: Iterable[tuple[str | int, float, bool]]) -> list[str]:
        """Return the phrases of :meth:`say`, one per column."""
        check_is_fitted(self)
        numbered = [Condition(self._number_of(feature), float(at), bool(above)) for feature, at, above in conditions]
        return say_conditions(self.features_, numbered)

    def aggregate(self, values: Any) -> pd.Series:
        """Return one value per column: the sum over the covariates that were made from it, such as importances."""
        check_is_fitted(self)
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (len(self.features_),):
            raise ValueError(
                f"values should have one number per covariate, shape ({len(self.features_)},), got {values.shape}."
            )
        columns = [feature.column for feature in self.features_]
        return pd.Series(values, index=pd.Index(columns, name="column")).groupby(level=0, sort=False).sum()

    @property
    def columns_used_(self) -> list[str]:
        """The names of the columns that covariates are made from."""
        check_is_fitted(self)
        return [recipe.name for recipe in self.recipes_]

    def to_json(self) -> dict[str, Any]:
        """Return the fitted encoder as JSON types; :meth:`from_json` undoes it."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return {
            "format": FORMAT,
            "version": VERSION,
            "parameters": plain_parameters(self),
            "n_columns": self.n_features_in_,
            "columns": None if names is None else [str(name) for name in names],
            "recipes": [recipe.to_json() for recipe in self.recipes_],
            "decisions": [decision.to_json() for decision in self.decisions_],
        }

    @classmethod
    def from_json(cls, record: Any) -> Self:
        """Undo :meth:`to_json`; raise ValueError for anything else, and for a version that is not read."""
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError("its preparation does not say that it is one")
        if record.get("version") != VERSION:
            raise ValueError(
                f"its preparation has version {record.get('version')!r:.60}, and this dipolar reads {VERSION}"
            )
        try:
            encoder = cls(**restored_parameters(record["parameters"]))
            encoder._restore(record)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ValueError(f"its preparation is damaged ({error!s:.200})") from error
        return encoder

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _set(self, recipes: tuple[Recipe, ...], decisions: tuple[Decision, ...]) -> None:
        if not recipes:
            reasons = listed(f"{decision.column} ({decision.done})" for decision in decisions)
            raise ValueError(f"no covariate is left: {reasons}. Give columns that differ between rows.")
        self.recipes_ = recipes
        self.decisions_ = decisions
        self.features_ = _features_of(recipes)

    def _restore(self, record: dict[str, Any]) -> None:
        Choice.of(self.get_params())
        self.n_features_in_ = int(check_number("n_columns", record["n_columns"], low=1, high=MOST_COLUMNS, whole=True))
        names = record["columns"]
        if names is not None:
            if len(names) != self.n_features_in_ or not all(isinstance(name, str) for name in names):
                raise ValueError("columns are not so many names")
            self.feature_names_in_ = np.array(names, dtype=object)
        decisions = tuple(Decision(**fields) for fields in record["decisions"])
        if not all(isinstance(word, str) for decision in decisions for word in decision.to_json().values()):
            raise ValueError("decisions are not words")
        recipes = tuple(recipe_from_json(recipe) for recipe in record["recipes"])
        if any(recipe.place >= self.n_features_in_ for recipe in recipes):
            raise ValueError("a recipe is for a column that there is not")
        self._set(recipes, decisions)

    def _read(self, X: Any, *, reset: bool) -> list[Column]:
        least = 2 if reset else 1
        if is_frame(X):
            _require_different([str(name) for name in X.columns])
            validate_data(self, X, skip_check_array=True, reset=reset)
            if X.shape[0] < least or not X.shape[1]:
                raise ValueError(
                    f"X should have at least {counted(least, 'row')} and a column, got {X.shape[0]} x {X.shape[1]}."
                )
        else:
            X = validate_data(self, X, dtype=None, ensure_all_finite=False, ensure_min_samples=least, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return read_columns(X, [f"x{i}" for i in range(X.shape[1])] if names is None else list(names))

    def _complain(self, odd: list[str]) -> None:
        if not odd or self.handle_unknown == "ignore":
            return
        more = [f"and {len(odd) - COLUMNS_SHOWN} more columns"] if len(odd) > COLUMNS_SHOWN else []
        cells = "; ".join([*odd[:COLUMNS_SHOWN], *more])
        if self.handle_unknown == "error":
            raise ValueError(
                f"X has cells that the training rows do not explain: {cells}. Mend them, or choose "
                "handle_unknown='warn', which treats them as gaps."
            )
        warnings.warn(f"Cells that the training rows do not explain: {cells}.", UserWarning, stacklevel=3)

    def _like(self, X: Any, values: np.ndarray) -> Any:
        """Return values as a DataFrame of the library of X, if X is one."""
        names = [feature.name for feature in self.features_]
        if isinstance(X, pd.DataFrame):
            return pd.DataFrame(values, columns=names, index=X.index)
        return type(X)(dict(zip(names, values.T))) if is_frame(X) else values

    def _number_of(self, feature: str | int) -> int:
        names = [known.name for known in self.features_]
        if isinstance(feature, str) and feature in names:
            return names.index(feature)
        if not isinstance(feature, str) and 0 <= feature < len(names):
            return int(feature)
        raise ValueError(
            f"there is no covariate {feature!r}.{suggestion(str(feature), names) or f' They are {listed(names)}.'}"
        )


def _require_different(names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"X has several columns called {listed(map(repr, twice))}. Rename all but one of them.")


def _features_of(recipes: Iterable[Recipe]) -> tuple[Feature, ...]:
    """Return the features of all recipes; where two have one name, the later one gets a number."""
    features: dict[str, Feature] = {}
    for feature in (feature for recipe in recipes for feature in recipe.features):
        name, number = feature.name, 1
        while name in features:
            number += 1
            name = f"{feature.name} #{number}"
        features[name] = feature if name == feature.name else Feature(**{**vars(feature), "name": name})
    return tuple(features.values())
