"""Text that stays inside its box: measured, wrapped, and set smaller only when nothing else helps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dipolar.plotting.style import INK, legible

__all__ = ["SMALLEST", "Box", "FittedText", "Ruler", "draw_text", "fit_text", "place_text"]

POINTS = 72.0  # per inch
LEADING = 1.22  # height of a line, in font sizes
SLACK = 1.04  # vector files and hinted pixels differ by a few percent
MEASURED_AT = 20.0
SMALLEST = 2.0  # smaller text is dust, and is left out


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

    def wrap(self, text: str, width: float, size: float) -> list[str]:
        """Break a text at its spaces, and inside words that are wider than a line; `\\n` always breaks."""
        lines: list[str] = []
        for paragraph in text.split("\n"):
            lines.append("")
            for word in paragraph.split(" "):
                joined = f"{lines[-1]} {word}" if lines[-1] else word
                if self.width(joined, size) <= width:
                    lines[-1] = joined
                    continue
                *full, rest = self._pieces(word, width, size)
                if lines[-1]:
                    lines += [*full, rest]
                else:
                    lines[-1:] = [*full, rest]
        return lines

    def _pieces(self, word: str, width: float, size: float) -> list[str]:
        pieces = [""]
        for character in word.replace(r"\$", "$"):
            if pieces[-1] and self.width(pieces[-1] + character, size) > width:
                pieces.append("")
            pieces[-1] += character
        return [piece.replace("$", r"\$") for piece in pieces]

    def _character(self, character: str) -> float:
        if character not in self._widths:
            # Ten in a row between bars, less the bars: what the pen moves, not the ink.
            self._widths[character] = (self._extent(f"|{character * 10}|") - self._extent("||")) / 10
        return self._widths[character]

    def _extent(self, text: str) -> float:
        artist = self._figure.text(0, 0, text, fontsize=MEASURED_AT, parse_math=False)
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
    y = {"top": box.top, "center": box.middle[1], "bottom": box.bottom}[vertical]
    look: dict[str, Any] = {"color": color, "fontsize": text.size, "linespacing": 1.15, "clip_on": False}
    anchor: dict[str, Any] = {"ha": align, "va": vertical, "multialignment": align}
    ax.text(x, y, "\n".join(text.lines), **look, **anchor, in_layout=False)


def _fit(ruler: Ruler, box: Box, texts: list[str], size: float, smallest: float) -> tuple[list[str], float]:
    for text in texts:
        current = size
        while current >= smallest:
            lines = ruler.wrap(text, box.width, current)
            if _fits(ruler, box, lines, current):
                return lines, current
            current *= 0.93
    current = smallest
    while True:
        lines = ruler.wrap(texts[-1], box.width, current)
        if _fits(ruler, box, lines, current) or current < SMALLEST:
            return lines, current
        current *= 0.93


def _fits(ruler: Ruler, box: Box, lines: list[str], size: float) -> bool:
    return ruler.height(lines, size) <= box.height and all(ruler.width(line, size) <= box.width for line in lines)
