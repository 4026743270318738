"""One look for all figures.

Colours come from Okabe and Ito's palette and, where groups are ordered by risk, from a map whose lightness rises
steadily: both stay apart under the common kinds of colour blindness and in grey print. Nothing here changes
matplotlib's settings; every artist is told its look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dipolar.plotting.glyphs import font_families, legible
from dipolar.tree.rules import flatten, shorten

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "RISK_MAP",
    "RISK_RANGE",
    "SERIES",
    "SMALL_SIZE",
    "TEXT_SIZE",
    "check_axes",
    "check_label",
    "figure_of",
    "ink_of",
    "make_axes",
    "name_label",
    "ordered_colors",
    "plain_axes",
    "quiet",
    "round_ticks",
    "size_in_inches",
]

INK = "#222222"
GREY = "#6E6E6E"
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"

# Lines that are told apart by colour, marker and dashes.
SERIES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "marker": "o", "linestyle": "solid"},
    {"color": ORANGE, "marker": "s", "linestyle": (0, (5, 1.5))},
    {"color": GREEN, "marker": "^", "linestyle": (0, (2, 1.2))},
    {"color": "#CC79A7", "marker": "D", "linestyle": (0, (6, 1.5, 1, 1.5))},
    {"color": "#E69F00", "marker": "v", "linestyle": (0, (1, 1))},
    {"color": "#56B4E9", "marker": "P", "linestyle": (0, (8, 2))},
)

TEXT_SIZE = 9.0
SMALL_SIZE = 8.0

# From low risk to high risk; the yellow end of the map is too light for lines on white.
RISK_MAP, RISK_RANGE = "plasma", (0.02, 0.78)

READABLE_CONTRAST = 4.5


def make_axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure."""
    if ax is None:
        return plt.subplots(figsize=figsize, layout="constrained")[1]
    return check_axes(ax)


def check_axes(ax: Any) -> Axes:
    """Refuse what is not one Axes: figures, arrays of axes."""
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax should be one matplotlib Axes, got a {type(ax).__name__}. figure.subplots() makes one; of several, "
            "pass axes[0] or axes[0, 1]. None makes a figure."
        )
    return ax


def check_label(name: str, text: Any) -> str:
    """Return what an axis is to say."""
    if not isinstance(text, str):
        raise TypeError(f"{name} should be a string, got {text!r}. 'days' or 'months' are common.")
    return text


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes, also where they lie in a part of it."""
    figure: Any = ax.figure
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, after a layout engine has had its say."""
    figure = figure_of(ax)
    figure.draw_without_rendering()
    extent = ax.get_window_extent()
    return extent.width / figure.dpi, extent.height / figure.dpi


def round_ticks(last: float, n_steps: int) -> np.ndarray:
    """Return round times from 0 to no more than the last one."""
    ticks = np.asarray(MaxNLocator(nbins=n_steps, steps=[1, 2, 2.5, 5, 10]).tick_values(0, last))
    return ticks[(ticks >= 0) & (ticks <= last)]


def plain_axes(ax: Axes, *, size: float = SMALL_SIZE) -> None:
    """Give axes the common look: two spines, small ticks."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=GREY, linewidth=0.8)
    ax.tick_params(labelsize=size, color=GREY, labelcolor=INK, width=0.8, length=0.35 * size, pad=0.3 * size)


def quiet(ax: Axes, *, x: str | None = None, y: str | None = None, title: str | None = None) -> None:
    """Label axes in the common look."""
    if x is not None:
        ax.set_xlabel(legible(x), fontsize=TEXT_SIZE, color=INK, family=font_families(x))
    if y is not None:
        ax.set_ylabel(legible(y), fontsize=TEXT_SIZE, color=INK, family=font_families(y))
    if title is not None:
        ax.set_title(legible(title), fontsize=TEXT_SIZE + 1, color=INK, family=font_families(title))


def ordered_colors(values: Sequence[float] | np.ndarray) -> list[Any]:
    """Return one colour per value, by rank: the higher the risk, the lighter and warmer."""
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    share = rank / max(len(rank) - 1, 1)
    low, high = RISK_RANGE
    return [mpl.colormaps[RISK_MAP](low + (high - low) * float(s)) for s in share]


def ink_of(color: Any) -> tuple[float, float, float]:
    """Darken a colour until text in it can be read on white: a contrast of 4.5, as the WCAG ask for small text."""
    red_green_blue = np.array(to_rgb(color))
    while 1.05 / (_luminance(red_green_blue) + 0.05) < READABLE_CONTRAST:
        red_green_blue *= 0.95
    red, green, blue = red_green_blue.tolist()
    return red, green, blue


def _luminance(red_green_blue: np.ndarray) -> float:
    """Relative luminance of an sRGB colour."""
    linear = np.where(red_green_blue <= 0.04045, red_green_blue / 12.92, ((red_green_blue + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def name_label(name: str, width: int = 40) -> str:
    """Return the name of a covariate as an axis label: on one line, of bounded length."""
    return shorten(flatten(name), width)
