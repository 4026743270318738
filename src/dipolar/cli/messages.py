"""Faults that the user can mend, each told in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "UserError",
    "counted",
    "listed",
    "quoted",
    "reason_of",
    "refusals_as_user_errors",
    "shortened",
    "suggestion",
]

# How many names a message lists before it counts the rest, and how much of a name or of a cell it shows.
NAMES_SHOWN = 8
LONGEST_NAME = 60


class UserError(Exception):
    """Input that cannot be used; the message says what to do about it."""


@contextmanager
def refusals_as_user_errors() -> Iterator[None]:
    """Turn what the library refuses into a message for the user."""
    try:
        yield
    except ValueError as error:
        raise UserError(str(error)) from error


def reason_of(error: OSError) -> str:
    """Return what the system has against a file."""
    return error.strerror or str(error) or type(error).__name__


def listed(names: Iterable[object]) -> str:
    """Return names with commas between them, the first few of many."""
    texts = [shortened(str(name), LONGEST_NAME) for name in names]
    shown = ", ".join(texts[:NAMES_SHOWN])
    return shown if len(texts) <= NAMES_SHOWN else f"{shown} and {len(texts) - NAMES_SHOWN} more"


def quoted(cell: object) -> str:
    """Return a cell as it is written in code, the middle of a long one left out."""
    return shortened(repr(cell), LONGEST_NAME)


def shortened(text: str, most: int) -> str:
    """Return a text without its middle where it is longer than so many characters."""
    return text if len(text) <= most else f"{text[: most - most // 3 - 5]} ... {text[-(most // 3) :]}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a question that names the most similar of the known names, or nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
