"""Tables as people, spreadsheets and Markdown want them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd

UNKNOWN = "-"


@dataclass(frozen=True)
class Table:
    """A titled table of texts, with remarks below it."""

    name: str  # part of a file's name
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    left: int = 2  # so many first columns hold names, and so do those in `texts`
    texts: Collection[str] = ()
    wide: Collection[str] = ()  # columns that a terminal has no room for
    in_terminal: bool = True

    def is_text(self, column: int) -> bool:
        """Tell whether a column holds names rather than numbers."""
        return column < self.left or self.columns[column] in self.texts

    def markdown(self, level: int = 2) -> str:
        """Return the table under a heading."""
        rule = ["---" if self.is_text(number) else "---:" for number in range(len(self.columns))]
        lines = [_row(self.columns), _row(rule), *map(_row, self.rows)]
        parts = [f"{'#' * level} {self.title}", "\n".join(lines), *self.notes]
        return "\n\n".join(parts) + "\n"

    def frame(self) -> pd.DataFrame:
        """Return the texts as a frame."""
        return pd.DataFrame(self.rows, columns=list(self.columns))


def number(value: float | None, digits: int) -> str:
    """Return a number with so many digits, and a dash for one that is not known."""
    return UNKNOWN if value is None or pd.isna(value) else f"{value:.{digits}f}"


def mean_and_sd(mean: float | None, sd: float | None, digits: int) -> str:
    """Return "mean (SD)"."""
    if mean is None or pd.isna(mean):
        return UNKNOWN
    return f"{number(mean, digits)} ({number(sd, digits)})"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
