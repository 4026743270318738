"""From a table as it comes to the covariates of a tree, learnt once and stored with the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dipolar.cli.messages import LONGEST_NAME, UserError, listed, quoted, shortened, suggestion
from dipolar.cli.outcome import Outcome, looks_like_outcome
from dipolar.cli.recipes import CategoryColumn, DateColumn, NumberColumn, Recipe, recipe_from_json
from dipolar.cli.table import Table
from dipolar.preparation.cells import as_numbers, as_text, date_format, is_missing

__all__ = ["ColumnChoice", "Preparation", "Prepared"]

FORMAT = "dipolar-preparation"

# Raised when a reader of the old version could no longer understand a new file.
VERSION = 1

# Text of more categories than this is taken for free text.
MOST_CATEGORIES = 30

# A column of text whose known cells are numbers to this share is a column of numbers with slips.
MOSTLY_NUMBERS = 0.9

IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|pid|uid|mrn|nr|no|number|index|row|rownames|record|case|patient|subject)", re.IGNORECASE
)


@dataclass(frozen=True)
class ColumnChoice:
    """What the user says about the columns."""

    only: Sequence[str] = ()
    drop: Sequence[str] = ()
    category: Sequence[str] = ()
    dates: str = "drop"  # or "days"

    def check(self, table: Table) -> None:
        """Refuse names that the table does not have."""
        for option, names in (("--only", self.only), ("--drop", self.drop), ("--category", self.category)):
            for name in names:
                if name not in table.columns:
                    hint = suggestion(name, table.columns) or f" It has {listed(table.columns)}."
                    raise UserError(f"{option}: {table.name} has no column {name!r}.{hint}")


@dataclass(frozen=True)
class Prepared:
    """Covariates for a tree, and what was done to get them."""

    X: pd.DataFrame
    notes: list[str]


@dataclass(frozen=True)
class Preparation:
    """What becomes of every column of a table."""

    recipes: tuple[Recipe, ...]
    dropped: tuple[tuple[str, str], ...]  # names and reasons
    outcome: tuple[str, str]  # names of time and event
    time_unit: str | None = None  # days, months, ...; None where nobody said

    @property
    def features(self) -> list[str]:
        """Names of the covariates that the tree sees."""
        return [feature for recipe in self.recipes for feature in recipe.features]

    @classmethod
    def learn(cls, table: Table, outcome: Outcome, choice: ColumnChoice) -> Preparation:
        """Decide about every column by the cells of a table."""
        choice.check(table)
        recipes: list[Recipe] = []
        dropped: list[tuple[str, str]] = []
        for name, column in table.columns.items():
            if name in (outcome.time, outcome.event) or (choice.only and name not in choice.only):
                continue
            decision = _decide(name, column, choice)
            if isinstance(decision, Recipe):
                recipes.append(decision)
            else:
                dropped.append((name, decision))
        if not recipes:
            reasons = listed(f"{name} ({reason})" for name, reason in dropped)
            raise UserError(f"no covariate is left: {reasons or 'there was none'}. Give a table with covariates.")
        return cls(tuple(recipes), tuple(dropped), (outcome.time, outcome.event), outcome.time_unit)

    def apply(self, table: Table, *, fill_columns: bool = False) -> Prepared:
        """Return the covariates of a table, with its columns in any order and others beside them.

        Parameters
        ----------
        table : Table
        fill_columns : bool, default=False
            Whether a column that is not there is filled in like a missing value, instead of an error.
        """
        absent = [recipe.name for recipe in self.recipes if recipe.name not in table.columns]
        if absent and not fill_columns:
            raise UserError(
                f"{table.name} has no column {listed(map(repr, absent))}, which the model was fitted with."
                f"{suggestion(absent[0], table.columns)} Add it, or fill it with its usual value: --fill-columns."
            )
        encoded = [
            recipe.encode_absent(len(table)) if recipe.name in absent else recipe.encode(table.columns[recipe.name])
            for recipe in self.recipes
        ]
        X = pd.DataFrame(np.hstack([part.values for part in encoded]), columns=self.features)
        return Prepared(X, [note for part in encoded for note in part.notes])

    def unused(self, table: Table) -> list[str]:
        """Return the columns of a table that mean nothing to the model."""
        known = {*self.outcome, *(recipe.name for recipe in self.recipes), *(name for name, _ in self.dropped)}
        return [name for name in table.columns if name not in known]

    def describe(self) -> list[str]:
        """Say what becomes of the columns that are not plain numbers."""
        categories = [recipe for recipe in self.recipes if isinstance(recipe, CategoryColumn)]
        dates = [recipe for recipe in self.recipes if isinstance(recipe, DateColumn)]
        notes = [f"{recipe.name}: text, {_levels(recipe)}" for recipe in categories]
        notes += [f"{recipe.name}: days since {recipe.origin[:10]}{_read_as(recipe)}" for recipe in dates]
        return notes + [f"{name}: left out, {reason}" for name, reason in self.dropped]

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as JSON types."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "recipes": [recipe.to_json() for recipe in self.recipes],
            "dropped": [list(pair) for pair in self.dropped],
            "outcome": list(self.outcome),
            "time_unit": self.time_unit,
        }

    @classmethod
    def from_json(cls, record: Any) -> Preparation:
        """Undo `to_json`; raise ValueError for anything else, and for a version from the future."""
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError("its preparation does not say that it is one")
        version = record.get("version")
        if not isinstance(version, int) or not 1 <= version <= VERSION:
            raise ValueError(f"its preparation has version {version!r}, and this dipolar reads up to {VERSION}")
        try:
            recipes = tuple(recipe_from_json(recipe) for recipe in record["recipes"])
            dropped = tuple((str(name), str(reason)) for name, reason in record["dropped"])
            time, event = map(str, record["outcome"])
            unit = None if record["time_unit"] is None else str(record["time_unit"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ValueError(f"its preparation is damaged ({error})") from error
        return cls(recipes, dropped, (time, event), unit)


def _levels(recipe: CategoryColumn) -> str:
    if len(recipe.levels) == 2:
        return f"{recipe.levels[1]} against {recipe.levels[0]}"
    return f"one covariate each for {listed(recipe.levels)}"


def _read_as(recipe: DateColumn) -> str:
    return "" if recipe.form is None else f", dates read as {recipe.form}"


def _decide(name: str, column: np.ndarray, choice: ColumnChoice) -> Recipe | str:
    """Return the recipe of a column, or why it is left out."""
    asked_for = name in choice.only or name in choice.category
    known = column[~is_missing(column)]
    if name in choice.drop:
        return "as told"
    if not len(known):
        return "empty"
    if len(set(known.tolist())) == 1:
        return f"always {shortened(str(as_text(known)[0]), LONGEST_NAME)}"
    if looks_like_outcome(name) and not asked_for:
        return "named like another outcome (--only takes it)"
    if name in choice.category:
        return CategoryColumn.learn(name, column)
    if _is_identifier(name, known) and not asked_for:
        return "an identifier, by its name and values (--only takes it)"
    return _decide_by_kind(name, column, known, choice)


def _decide_by_kind(name: str, column: np.ndarray, known: np.ndarray, choice: ColumnChoice) -> Recipe | str:
    numbers = as_numbers(known)
    is_number = ~np.isnan(numbers)
    if column.dtype.kind == "f" or is_number.mean() >= MOSTLY_NUMBERS:
        varies = len(set(numbers[is_number].tolist())) > 1
        return NumberColumn.learn(name, column) if varies else "without two different numbers"
    form = date_format(column) if column.dtype == object else None
    if form is not None or column.dtype.kind == "M":
        if choice.dates == "days":
            return DateColumn.learn(name, column, form)
        return "a date: it may tell the outcome (--dates days counts it)"
    n_levels = len(set(as_text(known)))
    if n_levels > MOST_CATEGORIES:
        return f"text of {n_levels} different values, such as {quoted(as_text(known)[0])}"
    return CategoryColumn.learn(name, column)


def _is_identifier(name: str, known: np.ndarray) -> bool:
    """Tell whether cells only number or name the rows."""
    n_distinct = len(set(known.tolist()))
    if IDENTIFIER.fullmatch(name) and n_distinct > 0.5 * len(known):
        numbers = as_numbers(known)
        return bool(np.isnan(numbers).any() or (numbers == np.round(numbers)).all())
    if n_distinct < len(known) or len(known) < 10:
        return False
    numbers = np.sort(as_numbers(known))
    return bool((np.diff(numbers) == 1).all())
