"""What fitted trees and forests have in common: curves, the score, files."""

from __future__ import annotations

import os
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import RegressorTags
from sklearn.utils.validation import check_is_fitted

from dipolar.metrics.concordance import concordance_index
from dipolar.model_file import (
    ModelFileError,
    model_file,
    plain_parameters,
    read_model,
    register_estimator,
    restored_parameters,
    write_model,
)
from dipolar.node_svm.svm import DipoleSVM
from dipolar.parameters import check_number
from dipolar.validation import check_predict_data

__all__ = ["SurvivalModel", "write_page"]

register_estimator(DipoleSVM)  # a part of models

# Where covariates have no names and a file has no array of one value for each, it could claim any number.
MOST_FEATURES = 2**24

MOST_JOBS = 1024


class SurvivalModel(BaseEstimator):
    """A fitted model that predicts a risk and survival curves, and can be saved.

    A subclass predicts risks, quantiles and curves (`predict`, `predict_quantile`, `_curves`), and says what makes up
    a fitted model (`_header`, `_arrays`, `_restore`).
    """

    # Whether missing values are learnt from.
    _allow_nan = False

    # The kinds of splits that a fitted model may have.
    _split_kinds: ClassVar[tuple[str, ...]] = ()

    n_jobs: Any
    random_state: Any

    n_features_in_: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # What has no constructor is what other models have in common, and no model itself.
        if cls.__init__ is not object.__init__:
            register_estimator(cls)

    def predict_survival_function(self, X: Any, times: Any = None, *, return_array: bool = False) -> np.ndarray:
        """Predict survival functions: the Kaplan-Meier estimate of each row's leaf; in a forest, their mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        times : array-like of shape (n_times,), default=None
            The times at which the values are asked for; None returns step functions.
        return_array : bool, default=False
            Whether to return the values at `unique_times_` instead of step functions.

        Returns
        -------
        survival : ndarray
            Of shape (n_samples,) with a :class:`~dipolar.curves.StepFunction` each (rows of one leaf of a tree share
            it), or of shape (n_samples, n_times). Beyond its last time a curve keeps its last value.
        """
        return self._curves(X, self._asked_times(times, return_array), hazard=False)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, *, return_array: bool = False
    ) -> np.ndarray:
        """Predict cumulative hazard functions: as :meth:`predict_survival_function`, by the Nelson-Aalen estimate."""
        return self._curves(X, self._asked_times(times, return_array), hazard=True)

    def predict_median(self, X: Any, unreached: str = "inf") -> np.ndarray:
        """Predict median survival times; see :meth:`predict_quantile`."""
        return self.predict_quantile(X, 0.5, unreached)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index of the predicted risks; pairs with equal risks count 1/2.

        A pair is comparable when the earlier time is an event; an event tied with a censoring counts as earlier, and
        two tied events are left out.
        """
        return concordance_index(y, self.predict(X), sample_weight=sample_weight)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Save the fitted model to one file without pickle, or to an open binary file; see :meth:`load`.

        A `random_state` that is not an integer is saved as None. The file appears complete or not at all.
        """
        check_is_fitted(self)
        write_model(path, self._file_header(), self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote. The file is only read: nothing in it is executed.

        Raises
        ------
        ModelFileError
            For a truncated, damaged or foreign file, one of another estimator and one of a newer format. It is a
            ValueError, and the only error that the content of a file can lead to.
        """
        header, arrays = read_model(path)
        if header.get("estimator") != cls.__name__:
            raise ModelFileError(
                f"{os.fspath(path)!r} holds a {header.get('estimator')!r:.60}, not a {cls.__name__!r}. "
                "Load it with that class."
            )
        with model_file(path):
            return cls._from_file(header, arrays)

    def to_html(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the fitted tree as one HTML file that opens offline; see :func:`dipolar.report.write_report`.

        The options are those of that function: `X`, `y`, `sample_weight`, `predict_form`, `include_rows`, `scores`,
        `title`, `time_unit` and `units`.
        """
        return write_page(self._shown_tree(), path, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A risk is a number, and scikit-learn's tools for regressors, partial dependence among them, apply to it.
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    # What a subclass provides.

    def predict(self, X: Any) -> np.ndarray:
        """Predict a risk: the higher, the earlier the event is expected."""
        raise NotImplementedError

    def predict_quantile(self, X: Any, q: float = 0.5, unreached: str = "inf") -> np.ndarray:
        """Predict the time by which a share `q` is expected to have had the event."""
        raise NotImplementedError

    def predict_rmst(self, X: Any, horizon: float | None = None) -> np.ndarray:
        """Predict the restricted mean survival time, the area under the survival curve up to `horizon`."""
        raise NotImplementedError

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf that every row falls into."""
        raise NotImplementedError

    def _curves(self, X: Any, times: np.ndarray | None, *, hazard: bool) -> np.ndarray:
        """Return step functions, or their values at some times: of the hazard, or of survival."""
        raise NotImplementedError

    def _times_of_tables(self) -> np.ndarray:
        """Return `unique_times_`, the times that a table of curves is for."""
        raise NotImplementedError

    def _shown_tree(self) -> Any:
        """Return the tree that a report shows."""
        raise NotImplementedError

    def _header(self) -> dict[str, Any]:
        """What a file says of the fitted model in words and single numbers."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the fitted model by name."""
        raise NotImplementedError

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Set what fitting sets, from what a file holds; raise ValueError if that is no such model."""
        raise NotImplementedError

    # Files.

    def _file_header(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        parameters = plain_parameters(self)
        self._check_parameters()
        return {
            "estimator": type(self).__name__,
            "dipolar": version("dipolar"),
            "parameters": parameters,
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
        } | self._header()

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        model = cls(**restored_parameters(_parameters_in(header)))
        model._restore_features(header)
        model._check_parameters()
        model._restore(header, arrays)
        unread = arrays.keys() - model._arrays().keys()
        if unread:
            raise ValueError(f"it has arrays that no {cls.__name__} has: {sorted(unread)[:5]}")
        return model

    def _asked_times(self, times: Any, return_array: bool) -> np.ndarray | None:
        if times is None:
            check_is_fitted(self)
            return self._times_of_tables() if return_array else None
        if return_array:
            raise ValueError("times and return_array=True both ask for a table. Pass one of them.")
        try:
            asked = np.asarray(times, dtype=np.float64)
        except (TypeError, ValueError):
            asked = np.array(np.nan)
        if asked.ndim != 1 or not np.isfinite(asked).all():
            raise ValueError(
                f"times must be a list of finite times, got {times!r:.200}. None gives step functions, "
                "return_array=True the values at unique_times_."
            )
        return asked

    def _restore_features(self, header: dict[str, Any]) -> None:
        n_features, names = header.get("n_features"), header.get("feature_names")
        self.n_features_in_ = int(check_number("n_features", n_features, low=1, high=MOST_FEATURES, whole=True))
        if names is None:
            return
        if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
            raise ValueError(f"feature_names are not {n_features} strings")
        self.feature_names_in_ = np.array(names, dtype=object)

    def _kind_of_splits(self, header: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        kind, settings = header.get("splits"), header.get("settings")
        if kind not in self._split_kinds or not isinstance(settings, dict):
            raise ValueError(f"splits are of the kind {kind!r:.60} and not one of {self._split_kinds}")
        return kind, settings

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that `fit` would refuse, and for those that predictions would trip over."""
        if self.n_jobs is not None:
            check_number("n_jobs", self.n_jobs, low=-MOST_JOBS, high=MOST_JOBS, whole=True)
            if self.n_jobs == 0:
                raise ValueError("n_jobs must be None or an integer other than 0, got 0.")
        if isinstance(self.random_state, Integral):
            check_number("random_state", self.random_state, low=0, high=2**32 - 1, whole=True)

    def _check_covariates(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_predict_data(self, X, allow_nan=self._allow_nan)


def write_page(model: Any, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the report of a fitted tree, or of a pipeline that ends in one."""
    # The one door outwards: users look for the report at the model, and whoever never asks for it never loads it.
    from dipolar.report import write_report

    return write_report(model, path, **options)


def _parameters_in(header: dict[str, Any]) -> dict[str, Any]:
    parameters = header.get("parameters")
    if not isinstance(parameters, dict):
        raise ValueError("its header has no parameters")
    return parameters
