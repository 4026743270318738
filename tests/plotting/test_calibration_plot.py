"""Predicted against observed survival."""

import numpy as np
import pytest

from dipolar.metrics import calibration_curve
from dipolar.plotting import (
    plot_calibration,
)
from tests.plotting.drawn import assert_nothing_collides


def test_calibration(trees, data):
    X, y = data
    curve = calibration_curve(y, trees[8].predict_survival_function(X), 1000, groups=trees[8].apply(X))
    curve.loc[2, ["observed", "std_error"]] = np.nan
    ax = plot_calibration(curve)
    known = curve.dropna()
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), known[["predicted", "observed"]])
    assert ax.get_title() == "1 group is not followed long enough"
    segments = ax.containers[0].lines[2][0].get_segments()
    half = 1.959964 * known["std_error"]
    np.testing.assert_allclose([s[0, 1] for s in segments], np.maximum(known["observed"] - half, 0), atol=1e-6)
    np.testing.assert_allclose([s[1, 1] for s in segments], np.minimum(known["observed"] + half, 1), atol=1e-6)
    assert_nothing_collides(ax.figure)
    with pytest.raises(ValueError, match=r"columns \['std_error'\] are missing"):
        plot_calibration(curve.drop(columns="std_error"))
