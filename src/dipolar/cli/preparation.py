"""The columns of a table as the encoder of a model takes them, and what the user says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dipolar.cli.messages import UserError, listed, suggestion
from dipolar.cli.outcome import looks_like_outcome
from dipolar.cli.table import Table
from dipolar.preparation import CovariateEncoder, Prepared

__all__ = ["ColumnChoice", "apply_encoder", "describe_encoder"]

# What decides otherwise, as options.
OVERRIDES = {"only": "--only takes it", "dates": "--dates days counts it", "categorical": "--category takes it"}


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

    def covariates(self, table: Table, outcome: Sequence[str]) -> pd.DataFrame:
        """Return the columns that may become covariates."""
        names = [name for name in table.columns if name not in outcome and (not self.only or name in self.only)]
        if not names:
            raise UserError("no covariate is left: there was none. Give a table with covariates.")
        return table.frame[names]

    def encoder(self, covariates: pd.DataFrame, reference: str | None) -> CovariateEncoder:
        """Return the encoder of these columns, not fitted yet; a second outcome must not become a covariate."""
        names = list(covariates)
        asked_for = {*self.only, *self.category}
        outcomes = [name for name in names if looks_like_outcome(name) and name not in asked_for]
        drop = dict.fromkeys(outcomes, "named like another outcome (--only takes it)")
        return CovariateEncoder(
            only=[name for name in self.only if name in names] or None,
            drop=drop | dict.fromkeys((name for name in self.drop if name in names), "as told"),
            categorical=[name for name in self.category if name in names],
            dates=self.dates,
            reference=reference,
            handle_unknown="ignore",
        )


def describe_encoder(encoder: CovariateEncoder) -> list[str]:
    """Say what becomes of the columns that are not plain numbers."""
    return [decision.words(OVERRIDES) for decision in encoder.decisions_ if not decision.is_plain]


def apply_encoder(encoder: CovariateEncoder, table: Table, *, fill_columns: bool = False) -> Prepared:
    """Return the covariates of a table, with its columns in any order and others beside them.

    Parameters
    ----------
    encoder : CovariateEncoder
    table : Table
    fill_columns : bool, default=False
        Whether a column that is not there is filled in like a missing value, instead of an error.
    """
    names = getattr(encoder, "feature_names_in_", None)
    if names is None:
        raise UserError("the model knows its columns by number only. Fit it to a DataFrame, or with dipolar fit.")
    absent = [name for name in encoder.columns_used_ if name not in table.columns]
    if absent and not fill_columns:
        raise UserError(
            f"{table.name} has no column {listed(map(repr, absent))}, which the model was fitted with."
            f"{suggestion(absent[0], table.columns)} Add it, or fill it with its usual value: --fill-columns."
        )
    return encoder.prepare(table.frame.reindex(columns=names))
