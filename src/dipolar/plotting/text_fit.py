"""Text that stays inside its box: measured, set smaller within limits, and wrapped, but never inside a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dipolar.plotting.glyphs import GLUE, font_families, legible
from dipolar.plotting.style import INK

__all__ = ["POINTS", "SMALLEST", "Box", "FittedText", "Ruler", "draw_text", "fit_text", "place_text"]

POINTS = 72.0  # per inch
LEADING = 1.22  # height of a line, in font sizes
ASCENT = 0.94  # from the top of a line to its baseline, in font sizes
SLACK = 1.04  # vector files and hinted pixels differ by a few percent
MEASURED_AT = 20.0
STEP = 0.93  # from one font size to the next smaller one
SMALLEST = 2.0  # smaller text is dust, and is left out

# Where a word that is too wide for a line may be broken, the best places first: before a comparison, between words that
# are glued, inside a name where a part of it ends. Where nothing else helps, anywhere but inside a number or between it
# and its sign.
_BEFORE_COMPARISON = rf"(?<={GLUE})(?=[<>≤=])"
_BETWEEN_WORDS = rf"(?<=[^-+−<>≤={GLUE}]{GLUE})"
_BETWEEN_PARTS = (
    r"(?<=[_/|…])(?=[^_/|…])|(?<=[^\W\d][-.])(?=[^\W\d])"  # blood_pressure, low-density, blood.pressure
    r"|(?<=[a-z])(?=[A-Z])|(?<=[\u3040-\u9fff])(?=[\u3040-\u9fff])"  # bloodPressure, 血圧
)
_OUTSIDE_NUMBERS = (
    r"(?!(?<=\d)[\d.,eE%]|(?<=[.,])\d|(?<=\d[eE])[-+\d]|(?<=\d[eE][-+])\d"  # inside 1,234.5e-06 or 10%
    rf"|(?<=[-+−])\d|(?<=[-+−<>≤=]{GLUE})|{GLUE})"  # behind the sign of a number, before the glue of anything
)
GOOD_BREAKS = tuple(
    re.compile("|".join(places))
    for places in (
        [_BEFORE_COMPARISON],
        [_BETWEEN_WORDS],
        [_BETWEEN_WORDS, _BETWEEN_PARTS],
    )
)
ALL_BREAKS = (*GOOD_BREAKS, re.compile(_OUTSIDE_NUMBERS))


@dataclass(frozen=True)
class Box:
    """A rectangle, in inches from the lower left corner of the drawing."""

    left: float
    bottom: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height

    @property
    def middle(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.bottom + self.height / 2

    def shrunk(self, dx: float, dy: float) -> Box:
        """Return the box without a margin on either side."""
        return Box(self.left + dx, self.bottom + dy, max(self.width - 2 * dx, 0.0), max(self.height - 2 * dy, 0.0))


class Ruler:
    """Measures text in the default font of a figure, character by character."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._widths: dict[str, float] = {}

    def width(self, text: str, size: float) -> float:
        """Return the width of a line in inches."""
        shown = text.replace(r"\$", "$")
        return SLACK * size / MEASURED_AT * sum(self._character(character) for character in shown)

    def height(self, lines: list[str], size: float) -> float:
        """Return the height of some lines in inches."""
        return len(lines) * LEADING * size / POINTS

    def wrap(self, text: str, width: float, size: float, breaks: Sequence[re.Pattern[str]] = ALL_BREAKS) -> list[str]:
        """Break a text at its spaces, and words that are wider than a line where `breaks` allow; `\\n` always breaks.

        What cannot be broken stands on a line that is too wide: a number always, and any word without `breaks`.
        """
        lines: list[str] = []
        for paragraph in text.split("\n"):
            lines.append("")
            for word in paragraph.split(" "):
                joined = f"{lines[-1]} {word}" if lines[-1] else word
                if self.width(joined, size) <= width:
                    lines[-1] = joined
                    continue
                pieces = self._pieces(word, width, size, breaks)
                if lines[-1]:
                    lines += pieces
                else:
                    lines[-1:] = pieces
        return lines

    def _pieces(self, word: str, width: float, size: float, breaks: Sequence[re.Pattern[str]]) -> list[str]:
        """Break a word at the first kind of places at which all of its parts fit on a line."""
        word = word.replace(r"\$", "$")
        parts = [word]
        for places in breaks:
            parts = [part for part in places.split(word) if part]
            if all(self.width(part, size) <= width for part in parts):
                break
        lines = [""]
        for part in parts:
            if lines[-1] and self.width(lines[-1] + part.rstrip(GLUE), size) > width:
                lines.append("")
            lines[-1] += part
        return [line.strip(GLUE).replace("$", r"\$") for line in lines]

    def _character(self, character: str) -> float:
        if character not in self._widths:
            # Ten in a row between bars, less the bars: what the pen moves, not the ink.
            self._widths[character] = (self._extent(f"|{character * 10}|") - self._extent("||")) / 10
        return self._widths[character]

    def _extent(self, text: str) -> float:
        artist = self._figure.text(0, 0, text, fontsize=MEASURED_AT, parse_math=False, family=font_families(text))
        extent = artist.get_window_extent().width / self._figure.dpi
        artist.remove()
        return extent


@dataclass(frozen=True)
class FittedText:
    """Lines of a text, the font size at which they fit their box, and what they need of it in inches."""

    lines: list[str]
    size: float
    width: float
    height: float


def fit_text(
    ruler: Ruler, box: Box, texts: str | Iterable[str], *, size: float, smallest: float | None = None
) -> FittedText:
    """Choose how to write a text into a box.

    Parameters
    ----------
    ruler : Ruler
    box : Box
    texts : str or iterable of str
        Ways to say it, the fullest first; the first that fits is taken.
    size : float
        Font size in points.
    smallest : float, default=None
        The size down to which fuller texts are set smaller before a shorter one is taken; None is `size`. Where not
        even the last text fits, it is set as small as it takes.
    """
    texts = [legible(text) for text in ([texts] if isinstance(texts, str) else texts)]
    lines, size = _fit(ruler, box, texts, size, size if smallest is None else smallest)
    width = max(ruler.width(line, size) for line in lines)
    return FittedText(lines, size, width, ruler.height(lines, size))


def place_text(
    ax: Axes,
    ruler: Ruler,
    box: Box,
    texts: str | Iterable[str],
    *,
    size: float,
    smallest: float | None = None,
    align: str = "center",
    vertical: str = "center",
    color: Any = INK,
) -> None:
    """Write into a box of axes whose data units are inches; the first parameters are those of :func:`fit_text`.

    `align` is "left", "center" or "right", and `vertical` is "top", "center" or "bottom".
    """
    draw_text(ax, box, fit_text(ruler, box, texts, size=size, smallest=smallest), align, vertical, color)


def draw_text(
    ax: Axes, box: Box, text: FittedText, align: str = "center", vertical: str = "center", color: Any = INK
) -> None:
    """Draw a text that was fitted to a box, unless it would be too small to be seen."""
    if text.size < SMALLEST:
        return
    x = {"left": box.left, "center": box.middle[0], "right": box.right}[align]
    top = {
        "top": box.top,
        "center": box.middle[1] + text.height / 2,
        "bottom": box.bottom + text.height,
    }[vertical]
    look: dict[str, Any] = {"color": color, "fontsize": text.size, "clip_on": False, "in_layout": False}
    for number, line in enumerate(text.lines):
        # One by one: matplotlib sets the lines of one text closer where no letter is tall.
        baseline = top - (number * LEADING + ASCENT) * text.size / POINTS
        ax.text(x, baseline, line, ha=align, va="baseline", family=font_families(line), **look)


def _fit(ruler: Ruler, box: Box, texts: list[str], size: float, smallest: float) -> tuple[list[str], float]:
    """Try the texts in turn, each smaller and smaller in whole words, and then with words that are broken well."""
    sizes = [size * STEP**step for step in range(1 + int(np.log(smallest / size) / np.log(STEP) + 1e-9))]
    for text in texts:
        for breaks in ((), GOOD_BREAKS):
            for current in sizes:
                lines = ruler.wrap(text, box.width, current, breaks)
                if _fits(ruler, box, lines, current):
                    return lines, current
    current = smallest
    while True:
        lines = ruler.wrap(texts[-1], box.width, current)
        if _fits(ruler, box, lines, current) or current < SMALLEST:
            return lines, current
        current *= STEP


def _fits(ruler: Ruler, box: Box, lines: list[str], size: float) -> bool:
    return ruler.height(lines, size) <= box.height and all(ruler.width(line, size) <= box.width for line in lines)
