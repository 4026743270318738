"""Faults that the user can mend, each told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dipolar.words import LONGEST_NAME, alternatives, counted, listed, quoted, shortened, suggestion

__all__ = [
    "LONGEST_NAME",
    "UserError",
    "alternatives",
    "counted",
    "listed",
    "quoted",
    "reason_of",
    "refusals_as_user_errors",
    "shortened",
    "suggestion",
]


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
