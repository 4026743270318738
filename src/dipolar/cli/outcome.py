"""Which columns are the outcome, and which of their codes mean an event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dipolar.cli.messages import UserError, counted, listed, quoted, refusals_as_user_errors, suggestion
from dipolar.cli.table import Table
from dipolar.preparation.cells import as_dates, as_numbers, as_text, date_format, is_missing
from dipolar.survival import survival_outcome

__all__ = ["Outcome", "OutcomeColumns", "find_outcome", "looks_like_outcome"]

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

# A code with its meaning, as in 1:DECEASED.
NUMBERED_WORD = re.compile(r"([01])\s*[:=]\s*(.*\S)\s*", re.DOTALL)

ONE_DAY = np.timedelta64(86400, "s")

# How many codes a message lists.
CODES_SHOWN = 6


@dataclass(frozen=True)
class OutcomeColumns:
    """The columns that hold the outcome: a time, or a start and a stop, and an event."""

    time: str | None
    event: str
    start: str | None = None
    stop: str | None = None

    @property
    def span(self) -> tuple[str, str]:
        """Start and stop, where there is no time."""
        assert self.start is not None and self.stop is not None
        return self.start, self.stop

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for name in (self.time, self.start, self.stop, self.event) if name is not None)

    @property
    def time_name(self) -> str:
        """What the time is called."""
        return self.time if self.time is not None else f"{self.stop} - {self.start}"

    def to_json(self) -> dict[str, Any]:
        """Return the names as JSON types."""
        return asdict(self)


@dataclass(frozen=True)
class Outcome:
    """The columns of the outcome, and the codes that count as events."""

    columns: OutcomeColumns
    event_codes: tuple[str, ...]  # as `as_text` writes them, in lower case
    coding: str  # in words
    time_unit: str | None = None

    def read(self, table: Table) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return the outcomes, the rows that have one, and what there is to say about the others."""
        time, code = self._times(table), table.cells(self.columns.event)
        missing = np.isnan(time) | is_missing(code)
        rows = np.flatnonzero(~missing)
        notes = [f"{counted(missing.sum(), 'row')} without time or event left out"] if missing.any() else []
        if not len(rows):
            raise UserError(
                f"no row has both {self.columns.time_name!r} and {self.columns.event!r}. Name other columns: --time, "
                "--event."
            )
        self._refuse_negative(time[rows])
        events = np.array([str(cell).lower() in self.event_codes for cell in as_text(code)[rows]], dtype=bool)
        if not events.any():
            raise UserError(
                f"no row has an event: {self.columns.event!r} is {listed(_codes(code))} throughout. "
                "If one of these codes is the event, name it: --event-value CODE."
            )
        with refusals_as_user_errors():
            return survival_outcome(time[rows], events), rows, notes

    def _times(self, table: Table) -> np.ndarray:
        """Return the times, NaN where a cell is missing."""
        if self.columns.time is None:
            start, stop = (table.cells(name) for name in self.columns.span)
            return _time_between(start, stop, self.columns.span)
        return _numbers(table.cells(self.columns.time), f"the time column {self.columns.time!r}", "--time COLUMN")

    def _refuse_negative(self, times: np.ndarray) -> None:
        n_negative = int((times < 0).sum())
        if not n_negative:
            return
        if self.columns.time is None:
            start, stop = self.columns.span
            raise UserError(
                f"{stop!r} is before {start!r} in {counted(n_negative, 'row')}. Mend these rows, or name other "
                "columns: --start, --stop."
            )
        raise UserError(
            f"the time column {self.columns.time!r} is negative in {counted(n_negative, 'row')}. "
            "Times are counted from entry: mend these rows, or name another column: --time COLUMN."
        )


def _numbers(column: np.ndarray, what: str, option: str) -> np.ndarray:
    """Return numbers, NaN for missing cells; refuse cells that are anything else."""
    numbers = as_numbers(column)
    unreadable = np.isnan(numbers) & ~is_missing(column)
    if unreadable.any():
        cell = as_text(column)[unreadable][0]
        raise UserError(
            f"{what} has {counted(unreadable.sum(), 'cell')} that are no numbers, such as {quoted(cell)}. "
            f"Mend them, or name another column: {option}."
        )
    return numbers


def _time_between(start: np.ndarray, stop: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the days from one date to another, or the difference of numbers; NaN where one of them is missing."""
    dates = _dates([start, stop])
    if dates is None:
        first, last = (_numbers(cells, _what(name), "--start, --stop") for cells, name in zip((start, stop), names))
        return last - first
    return (dates[1] - dates[0]) / ONE_DAY


def _what(name: str) -> str:
    return f"the column {name!r} is no column of dates: it"


def _dates(columns: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Return the dates of columns; text has to be in one format, so that 03/04 is one day in both of them."""
    texts = [column for column in columns if column.dtype == object]
    form = date_format(np.concatenate(texts)) if texts else None
    forms = [form or date_format(column) if column.dtype == object else None for column in columns]
    if any(column.dtype.kind != "M" and known is None for column, known in zip(columns, forms)):
        return None
    return [as_dates(column, known) for column, known in zip(columns, forms)]


def find_outcome(
    table: Table,
    time: str | None = None,
    event: str | None = None,
    event_values: Sequence[str] = (),
    time_unit: str | None = None,
    *,
    start: str | None = None,
    stop: str | None = None,
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
    start, stop : str, default=None
        Columns of dates, or of numbers, whose difference is the time; both or none.
    """
    if len(table.columns) < 3:
        raise UserError(
            f"{table.name} has {counted(len(table.columns), 'column')}: {listed(table.columns)}. "
            "A time, an event and at least one covariate are needed."
        )
    if start is None and stop is None:
        time_column = _find_column(table, "time", time, TIME_NAMES, taken=event)
        event_column = _find_column(table, "event", event, EVENT_NAMES, taken=time_column)
        columns, unit = OutcomeColumns(time_column, event_column), time_unit or table.time_unit or _unit_in(time_column)
    else:
        columns, unit = _find_span(table, time, event, start, stop, time_unit)
    if len(set(columns.names)) < len(columns.names):
        what = "time and event are" if columns.time else "two of start, stop and event are"
        raise UserError(f"{what} the same column, {columns.event!r}. Name different ones: --time and --event.")
    codes = _codes(table.cells(columns.event))
    events, coding = _chosen(columns.event, codes, event_values) if event_values else _familiar(columns.event, codes)
    return Outcome(columns, events, coding, unit)


def _find_span(
    table: Table, time: str | None, event: str | None, start: str | None, stop: str | None, time_unit: str | None
) -> tuple[OutcomeColumns, str | None]:
    """Return the columns of an outcome between two dates, and the unit of its time."""
    if time is not None or start is None or stop is None:
        raise UserError("a time is one column, --time, or the difference of two, --start and --stop. Give either.")
    start, stop = _named_column(table, start, "--start"), _named_column(table, stop, "--stop")
    columns = OutcomeColumns(None, _find_column(table, "event", event, EVENT_NAMES, taken=stop), start, stop)
    if _dates([table.cells(start), table.cells(stop)]) is None:
        return columns, time_unit
    if time_unit not in (None, "days"):
        raise UserError(f"--time-unit {time_unit}: the time between dates is counted in days. Leave it out.")
    return columns, "days"


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
    found = sorted({code.lower() for code in codes})
    if found == ["1", "2"]:
        return ("2",), "1 = censored, 2 = event"
    may_ask_the_opposite = ASKS_THE_OPPOSITE.search(column.lower()) is not None
    meaning = {code: _meaning(code, may_ask_the_opposite) for code in found}
    if not found or None in meaning.values():
        why = "may count events or their absence, coded" if may_ask_the_opposite else "is coded"
        raise UserError(
            f"the event column {column!r} {why} {_listed_codes(codes)}. Say which of these is the event: "
            "--event-value CODE."
        )
    coding = ", ".join(sorted(f"{code} = {'event' if is_event else 'censored'}" for code, is_event in meaning.items()))
    return tuple(code for code, is_event in meaning.items() if is_event), coding


def _meaning(code: str, may_ask_the_opposite: bool) -> bool | None:
    """Tell whether a code means an event; None where it is in doubt, as in 0:DECEASED."""
    numbered = NUMBERED_WORD.fullmatch(code)
    if numbered:
        meanings = {_meaning(part, may_ask_the_opposite) for part in numbered.groups()} - {None}
        return meanings.pop() if len(meanings) == 1 else None
    if code in EVENT_WORDS | CENSORED_WORDS:
        return code in EVENT_WORDS
    return code in YES_WORDS if not may_ask_the_opposite and code in YES_WORDS | NO_WORDS else None


def _listed_codes(codes: list[str]) -> str:
    shown = ", ".join(map(quoted, codes[:CODES_SHOWN]))
    return shown if len(codes) <= CODES_SHOWN else f"{shown} and {len(codes) - CODES_SHOWN} more values"
