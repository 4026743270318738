"""Words of messages: lists that end, cells that are not too long, numbers with their nouns, guesses at slips."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from difflib import get_close_matches

__all__ = [
    "LONGEST_NAME",
    "alternatives",
    "counted",
    "listed",
    "quoted",
    "shortened",
    "suggestion",
    "threshold_text",
]

# How many names a message lists before it counts the rest, and how much of a name or of a cell it shows.
NAMES_SHOWN = 8
LONGEST_NAME = 60


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


def alternatives(names: Iterable[object], last: str = "or") -> str:
    """Return names with commas between them and a word before the last, the first few of many: I, II or III."""
    texts = [shortened(str(name), LONGEST_NAME) for name in names]
    if len(texts) > NAMES_SHOWN:
        texts = [*texts[:NAMES_SHOWN], f"{len(texts) - NAMES_SHOWN} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def threshold_text(threshold: float, digits: int = 6) -> str:
    """Write the threshold of "x <= threshold" with so many significant digits.

    Halves are rounded down. A threshold half-way between two values of the data then still parts them as long as they
    are one unit of its last digit apart: between 1235 and 1236 it is 1235, never 1236.
    """
    exact = Decimal(f"{threshold:.15g}")
    if not exact.is_finite():
        return f"{threshold:g}"
    half_down = ROUND_HALF_DOWN if exact > 0 else ROUND_HALF_UP  # decimal's "down" is towards 0
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), half_down)
    return f"{float(rounded):.{digits}g}"
