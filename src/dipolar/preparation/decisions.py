"""What becomes of every column of a table, decided by its cells and by what the user says, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from dipolar.preparation.cells import as_numbers, as_text, date_format
from dipolar.preparation.choice import Choice
from dipolar.preparation.columns import Column
from dipolar.preparation.recipes import (
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    NumberColumn,
    OrderedColumn,
    Recipe,
)
from dipolar.preparation.tally import Tally
from dipolar.words import LONGEST_NAME, counted, listed, quoted, shortened

__all__ = ["Decision", "LeftOut", "decide"]

# A column of text whose known cells are numbers to this share is a column of numbers with slips.
MOSTLY_NUMBERS = 0.9

# Gaps are marked where at least this share of the training rows, and as many of them, have one.
SHARE_OF_GAPS = 0.05
ROWS_WITH_GAPS = 10

# Of fewer rows than this, numbers that follow each other are no reason to take a column for an identifier.
ROWS_OF_IDENTIFIER = 10

IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|pid|uid|mrn|nr|no|number|index|row|rownames|record|case|patient|subject)", re.IGNORECASE
)


@dataclass(frozen=True)
class Decision:
    """What became of one column, in words.

    Attributes
    ----------
    column : str
    kind : str
        ``"number"``, ``"boolean"``, ``"date"``, ``"ordered"``, ``"category"``, or ``"left out"``.
    done : str
        What the column becomes, or why it is left out.
    gaps : str
        What becomes of its gaps; empty where the training rows have none.
    override : str
        The parameter that decides otherwise, if one does.
    """

    column: str
    kind: str
    done: str
    gaps: str = ""
    override: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the column is taken as it is."""
        return self.done == "numbers" and not self.gaps

    def words(self, overrides: Mapping[str, str] | None = None) -> str:
        """Return one line; `overrides` has other words for the parameters that decide otherwise."""
        line = f"{self.column}: {'left out, ' if self.kind == 'left out' else ''}{self.done}"
        hint = (OVERRIDES if overrides is None else overrides).get(self.override, "")
        return "".join([line, f" ({hint})" if hint else "", f"; {self.gaps}" if self.gaps else ""])

    def to_json(self) -> dict[str, str]:
        """Return the decision as JSON types."""
        return asdict(self)


OVERRIDES = {
    "only": "naming it in `only` takes it",
    "dates": 'dates="days" counts it',
    "categorical": "naming it in `categorical` takes it",
}


class LeftOut(Exception):  # noqa: N818 - an outcome, no error
    """A column becomes no covariate; the reason, and the parameter that decides otherwise."""

    def __init__(self, reason: str, override: str = "") -> None:
        super().__init__(reason)
        self.decided = {"done": reason, "override": override}


def decide(column: Column, place: int, choice: Choice, tally: Tally) -> tuple[Recipe | None, Decision]:
    """Return the recipe of a column, None if it is left out, and what was decided in words."""
    try:
        recipe = _recipe_of(column, place, choice, tally)
    except LeftOut as reason:
        return None, Decision(column.name, "left out", **reason.decided)
    encoded = recipe.encode(column)
    done = f"{recipe.about}; {encoded.odd}" if encoded.odd else recipe.about
    return recipe, Decision(column.name, recipe.kind, done, _about_gaps(recipe, encoded.n_gaps, choice))


def _about_gaps(recipe: Recipe, n_gaps: int, choice: Choice) -> str:
    if not n_gaps:
        return ""
    gaps = counted(n_gaps, "missing value")
    if choice.keeps_gaps:
        return f"{gaps} left as {'it is' if n_gaps == 1 else 'they are'}"
    mark = f", and marked by {recipe.features[-1].name!r}" if recipe.marks_gaps else ""
    return f"{gaps} set to {recipe.fill_words}{mark}"


def _recipe_of(column: Column, place: int, choice: Choice, tally: Tally) -> Recipe:
    _leave_out_what_says_nothing(column, choice, tally)
    marks_gaps = _marks_gaps(column, choice, tally)
    if column.name in choice.ordinal or (column.is_ordered and column.name not in choice.categorical):
        levels = _order_of(column, choice)
        return OrderedColumn.learn(column, place, tally, marks_gaps, levels)
    if column.name in choice.categorical:
        return _category(column, place, choice, tally, marks_gaps)
    if column.is_boolean:
        return BooleanColumn.learn(column, place, tally, marks_gaps)
    return _recipe_by_cells(column, place, choice, tally, marks_gaps)


def _leave_out_what_says_nothing(column: Column, choice: Choice, tally: Tally) -> None:
    name, known = column.name, column.cells[column.is_known]
    if name in choice.drop:
        raise LeftOut(choice.drop[name])
    if choice.only is not None and name not in choice.only:
        raise LeftOut("not among those asked for")
    if not len(known):
        raise LeftOut("empty")
    if column.n_distinct == 1:
        raise LeftOut(f"always {shortened(_said(column), LONGEST_NAME)}")
    is_asked_for = choice.only is not None or name in choice.categorical or name in choice.ordinal
    if not is_asked_for and column.levels is None and _is_identifier(column, tally):
        raise LeftOut("an identifier, by its name and values", "only")


def _said(column: Column) -> str:
    text = str(as_text(column.cells[column.is_known])[0])
    return {"0": "false", "1": "true"}[text] if column.is_boolean else text


def _recipe_by_cells(column: Column, place: int, choice: Choice, tally: Tally, marks_gaps: bool) -> Recipe:
    numbers = as_numbers(column.cells)
    is_number = ~np.isnan(numbers)
    share = tally.count(is_number) / tally.count(column.is_known)
    if column.cells.dtype.kind == "f" or (column.levels is None and share >= MOSTLY_NUMBERS):
        if len(pd.unique(numbers[is_number])) < 2:
            raise LeftOut("without two different numbers", "categorical" if column.cells.dtype == object else "")
        return NumberColumn.learn(column, place, tally, marks_gaps)
    form = date_format(column.cells) if column.cells.dtype == object and column.levels is None else None
    if form is not None or column.cells.dtype.kind == "M":
        if choice.dates == "drop":
            raise LeftOut("a date: it may tell the outcome", "dates")
        return DateColumn.learn(column, place, tally, marks_gaps, form)
    texts = as_text(column.cells[column.is_known])
    n_levels = len(set(texts))
    if n_levels > choice.max_levels:
        raise LeftOut(f"text of {n_levels} different values, such as {quoted(min(texts))}", "categorical")
    return _category(column, place, choice, tally, marks_gaps)


def _category(column: Column, place: int, choice: Choice, tally: Tally, marks_gaps: bool) -> Recipe:
    seen = set(as_text(column.cells[column.is_known]))
    levels = tuple(level for level in column.levels or sorted(seen) if level in seen)
    recipe = CategoryColumn.learn(
        column,
        place,
        tally,
        marks_gaps,
        levels,
        reference=choice.reference,
        min_frequency=choice.min_frequency,
    )
    if len(recipe.levels) < 2:
        raise LeftOut(f"no two categories occur {choice.min_frequency:g} times (`min_frequency`)")
    return recipe


def _order_of(column: Column, choice: Choice) -> tuple[str, ...]:
    """Return the levels in their order, which has to have every level that occurs."""
    seen = set(as_text(column.cells[column.is_known]))
    levels = choice.ordinal.get(column.name) or column.levels or tuple(_sorted_levels(seen))
    absent = sorted(seen - set(levels))
    if absent:
        raise ValueError(
            f"ordinal[{column.name!r}] has no place for {listed(map(quoted, absent))}, which "
            f"{'occurs' if len(absent) == 1 else 'occur'} in X. Give all levels from the lowest to the highest."
        )
    return levels


def _sorted_levels(seen: set[str]) -> list[str]:
    """Return levels by their numbers where they are numbers, and by the alphabet where they are not."""
    texts = np.array(sorted(seen), dtype=object)
    numbers = as_numbers(texts)
    return texts.tolist() if np.isnan(numbers).any() else texts[np.argsort(numbers, kind="stable")].tolist()


def _marks_gaps(column: Column, choice: Choice, tally: Tally) -> bool:
    gaps = tally.total - tally.count(column.is_known)
    if choice.keeps_gaps:
        return False
    if choice.add_indicator == "auto":
        return gaps >= max(ROWS_WITH_GAPS, SHARE_OF_GAPS * tally.total)
    return bool(choice.add_indicator) and gaps > 0


def _is_identifier(column: Column, tally: Tally) -> bool:
    """Tell whether cells only number or name the rows."""
    if column.is_boolean or column.cells.dtype.kind == "M":
        return False
    known = column.cells[column.is_known]
    n_distinct, n_known = column.n_distinct, tally.count(column.is_known)
    if IDENTIFIER.fullmatch(column.name) and n_distinct > 0.5 * n_known:
        numbers = as_numbers(known)
        return bool(np.isnan(numbers).any() or (numbers == np.round(numbers)).all())
    if n_distinct < n_known or n_known < ROWS_OF_IDENTIFIER:
        return False
    return bool((np.diff(np.sort(as_numbers(known))) == 1).all())
