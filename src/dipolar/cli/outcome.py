"""Which columns are the outcome, and which of their codes mean an event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dipolar.cli.messages import UserError, counted, listed, quoted, refusals_as_user_errors, suggestion
from dipolar.cli.table import Table
from dipolar.preparation.cells import as_numbers, as_text, is_missing
from dipolar.survival import survival_outcome

__all__ = ["Outcome", "find_outcome", "looks_like_outcome"]

# Names in lower case without signs. A name of the first tuple wins over those of the second.
TIME_NAMES = (
    (
        "time", "futime", "survivaltime", "survtime", "ostime", "osdays", "osmonths", "overallsurvival", "duration",
        "followup", "followuptime", "followupdays", "timetoevent", "tte", "lenfol", "daystoevent", "timetodeath",
        "survivalindays", "survivaldays", "survivalmonths", "pfstime", "dfstime", "rfstime", "efstime",
    ),
    ("days", "weeks", "months", "years", "t"),
)  # fmt: skip
EVENT_NAMES = (
    (
        "event", "status", "death", "dead", "died", "deceased", "delta", "fustat", "fstat", "osevent", "osstatus",
        "vitalstatus", "eventobserved", "observed", "failure", "outcome", "deathevent",
        "pfsevent", "pfsstatus", "dfsevent", "dfsstatus", "rfsevent", "rfsstatus", "efsevent", "efsstatus",
    ),
    ("censor", "censored", "censoring", "cens", "censind"),
)  # fmt: skip

TIME_UNITS = ("days", "weeks", "months", "years")

# Words that say it whatever the column is called.
EVENT_WORDS = frozenset({"dead", "death", "died", "deceased", "event", "relapse", "relapsed", "failed", "failure"})
CENSORED_WORDS = frozenset({"alive", "living", "censored", "censor", "no event", "survived", "lost to follow-up"})

# Codes that answer the question which the name of the column asks.
YES_WORDS = frozenset({"1", "yes", "y", "true", "t"})
NO_WORDS = frozenset({"0", "no", "n", "false", "f"})

# A yes in a column with such a name may mean that there was no event.
ASKS_THE_OPPOSITE = re.compile(r"cens|alive|surviv|living")

# How many codes a message lists.
CODES_SHOWN = 6


@dataclass(frozen=True)
class Outcome:
    """The two columns, and the codes that count as events."""

    time: str
    event: str
    event_codes: tuple[str, ...]  # as `as_text` writes them, in lower case
    coding: str  # in words
    time_unit: str | None = None

    def read(self, table: Table) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return the outcomes, the rows that have one, and what there is to say about the others."""
        time, code = table.columns[self.time], table.columns[self.event]
        missing = is_missing(time) | is_missing(code)
        rows = np.flatnonzero(~missing)
        notes = [f"{counted(missing.sum(), 'row')} without time or event left out"] if missing.any() else []
        if not len(rows):
            raise UserError(f"no row has both {self.time!r} and {self.event!r}. Name other columns: --time, --event.")
        times = self._times(time, rows)
        events = np.array([str(cell).lower() in self.event_codes for cell in as_text(code)[rows]], dtype=bool)
        if not events.any():
            raise UserError(
                f"no row has an event: {self.event!r} is {listed(_codes(code))} throughout. "
                "If one of these codes is the event, name it: --event-value CODE."
            )
        with refusals_as_user_errors():
            return survival_outcome(times, events), rows, notes

    def _times(self, column: np.ndarray, rows: np.ndarray) -> np.ndarray:
        times = as_numbers(column)[rows]
        unreadable = np.isnan(times)
        if unreadable.any():
            cell = as_text(column)[rows][unreadable][0]
            raise UserError(
                f"the time column {self.time!r} has {counted(unreadable.sum(), 'cell')} that are no numbers, "
                f"such as {quoted(cell)}. Mend them, or name another column: --time COLUMN."
            )
        if (times < 0).any():
            raise UserError(
                f"the time column {self.time!r} is negative in {counted((times < 0).sum(), 'row')}. "
                "Times are counted from entry: mend these rows, or name another column: --time COLUMN."
            )
        return times


def find_outcome(
    table: Table,
    time: str | None = None,
    event: str | None = None,
    event_values: Sequence[str] = (),
    time_unit: str | None = None,
) -> Outcome:
    """Find the outcome columns by their usual names, or take the named ones.

    Parameters
    ----------
    table : Table
    time, event : str, default=None
        Names of the columns; None looks for them.
    event_values : sequence of str
        Codes of the event column that count as events; without them the codes have to be familiar.
    time_unit : str, default=None
        What times are counted in; None takes it from the table or from the name of the column, if they say it.
    """
    if len(table.columns) < 3:
        raise UserError(
            f"{table.name} has {counted(len(table.columns), 'column')}: {listed(table.columns)}. "
            "A time, an event and at least one covariate are needed."
        )
    time_column = _find_column(table, "time", time, TIME_NAMES, taken=event)
    event_column = _find_column(table, "event", event, EVENT_NAMES, taken=time_column)
    if time_column == event_column:
        raise UserError(f"time and event are the same column, {time_column!r}. Name two: --time and --event.")
    codes = _codes(table.columns[event_column])
    events, coding = _chosen(event_column, codes, event_values) if event_values else _familiar(event_column, codes)
    unit = time_unit or table.time_unit or _unit_in(time_column)
    return Outcome(time_column, event_column, events, coding, unit)


def looks_like_outcome(name: str) -> bool:
    """Tell whether a column may be an outcome by its name: a second one must not become a covariate."""
    return any(_bare(name) in names for names in (TIME_NAMES[0], *EVENT_NAMES))


def _unit_in(name: str) -> str | None:
    """Return the unit that the name of a column ends with."""
    return next((unit for unit in TIME_UNITS if _bare(name).endswith(unit)), None)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _find_column(table: Table, what: str, given: str | None, usual: Sequence[Iterable[str]], taken: str | None) -> str:
    names = list(table.columns)
    if given is not None:
        return _named_column(table, given, f"--{what}")
    for tier in usual:
        found = [name for name in names if _bare(name) in tier and name != taken]
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"{listed(found)} could each be the {what} column. Say which: --{what} COLUMN.")
    raise UserError(
        f"no column of {table.name} is called like a{'n' if what == 'event' else ''} {what}: {listed(names)}. "
        f"Say which it is: --{what} COLUMN."
    )


def _named_column(table: Table, name: str, option: str) -> str:
    """Return the column that the user means; upper and lower case count only where they must."""
    if name in table.columns:
        return name
    same = [column for column in table.columns if column.lower() == name.lower()]
    if len(same) == 1:
        return same[0]
    hint = suggestion(name, table.columns) or f" It has {listed(table.columns)}."
    raise UserError(f"{option}: {table.name} has no column {name!r}.{hint}")


def _codes(column: np.ndarray) -> list[str]:
    return sorted({cell for cell in as_text(column) if cell is not None})


def _chosen(column: str, codes: list[str], event_values: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Take the user's word for the codes that are events."""
    wanted = {str(as_text(np.array([value], dtype=object))[0]).lower() for value in event_values}
    known = {code.lower() for code in codes}
    absent = [value for value in sorted(wanted) if value not in known]
    if absent:
        raise UserError(
            f"--event-value: {column!r} never is {listed(map(repr, absent))}; it is {_listed_codes(codes)}."
        )
    return tuple(sorted(wanted)), f"{' or '.join(sorted(wanted))} = event, as told"


def _familiar(column: str, codes: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the event codes of a column whose codes leave no doubt."""
    found = {code.lower() for code in codes}
    if found == {"1", "2"}:
        return ("2",), "1 = censored, 2 = event"
    yes, no, why = EVENT_WORDS | YES_WORDS, CENSORED_WORDS | NO_WORDS, "is coded"
    if ASKS_THE_OPPOSITE.search(column.lower()):
        yes, no, why = EVENT_WORDS, CENSORED_WORDS, "may count events or their absence, coded"
    if not found or found - yes - no:
        raise UserError(
            f"the event column {column!r} {why} {_listed_codes(codes)}. Say which of these is the event: "
            "--event-value CODE."
        )
    events = tuple(sorted(found & yes))
    pairs = [f"{code} = event" for code in events] + [f"{code} = censored" for code in sorted(found & no)]
    return events or tuple(sorted(yes)), ", ".join(sorted(pairs))


def _listed_codes(codes: list[str]) -> str:
    shown = ", ".join(map(quoted, codes[:CODES_SHOWN]))
    return shown if len(codes) <= CODES_SHOWN else f"{shown} and {len(codes) - CODES_SHOWN} more values"
