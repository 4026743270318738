"""Pictures look as they did.

The pictures in `images` are small; `DIPOLAR_UPDATE_IMAGES=1 python -m pytest tests/plotting/test_looks.py` draws them
again. Look at them before they are kept.
"""

import os
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dipolar.metrics import calibration_curve
from dipolar.plotting import (
    plot_calibration,
    plot_importance,
    plot_kappa_path,
    plot_leaf_curves,
    plot_pruning_path,
    plot_split_surface,
    plot_tree,
)
from tests.plotting.drawn import (
    cv_table,
)

IMAGES = Path(__file__).parent / "images"


UPDATE = os.environ.get("DIPOLAR_UPDATE_IMAGES") == "1"


DPI = 45


TOLERANCE = 4.0  # of 255, after averaging over blocks of pixels


PICTURES = {
    "tree": lambda d: plot_tree(d.trees[8], time_label="days"),
    "tree_right": lambda d: plot_tree(d.trees[8], orientation="right"),
    "tree_oblique": lambda d: plot_tree(d.linear, time_label="days"),
    "tree_pictures": lambda d: plot_tree(d.curved, X=d.plane[0]),
    "leaf_curves": lambda d: plot_leaf_curves(d.trees[8], time_label="days"),
    "surface": lambda d: plot_split_surface(d.curved, *d.plane),
    "kappa_path": lambda d: plot_kappa_path(cv_table())[0],
    "pruning_path": lambda d: plot_pruning_path(d.pruned),
    "calibration": lambda d: plot_calibration(
        calibration_curve(d.data[1], d.trees[8].predict_survival_function(d.data[0]), 1000, groups="curves")
    ),
    "importance": lambda d: plot_importance(d.linear),
}


def coarse(path):
    """A picture in grey and colour, averaged over blocks, so that one font renderer's pixels do not matter."""
    pixels = 255 * plt.imread(path)[..., :3]
    rows, columns = pixels.shape[0] // 4 * 4, pixels.shape[1] // 4 * 4
    return pixels[:rows, :columns].reshape(rows // 4, 4, columns // 4, 4, 3).mean(axis=(1, 3))


def difference(first, second):
    """Root mean square of the differences; infinite for pictures of other sizes."""
    a, b = coarse(first), coarse(second)
    return float(np.sqrt(np.mean((a - b) ** 2))) if a.shape == b.shape else np.inf


@pytest.mark.parametrize("name", list(PICTURES))
def test_pictures_look_as_they_did(name, tmp_path, trees, linear, curved, pruned, plane, data):
    fitted = SimpleNamespace(trees=trees, linear=linear, curved=curved, pruned=pruned, plane=plane, data=data)
    ax = PICTURES[name](fitted)
    path = (IMAGES if UPDATE else tmp_path) / f"{name}.png"
    ax.figure.savefig(path, dpi=DPI, metadata={"Software": None})
    assert difference(path, IMAGES / f"{name}.png") < TOLERANCE


def test_other_pictures_are_told_apart(trees, tmp_path):
    """The comparison refuses a tree with one more leaf and a picture without its bands."""
    without = plot_leaf_curves(trees[8], bands=True, time_label="days")
    without.figure.savefig(tmp_path / "bands.png", dpi=DPI)
    assert difference(tmp_path / "bands.png", IMAGES / "leaf_curves.png") > 1.5 * TOLERANCE
    plot_tree(trees[8], time_label="days", orientation="right").figure.savefig(tmp_path / "tree.png", dpi=DPI)
    assert difference(tmp_path / "tree.png", IMAGES / "tree.png") > 1.5 * TOLERANCE
