"""A target of the encoder: columns of any kinds become finite covariates, in any order of rows, and survive JSON."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from dipolar import CovariateEncoder
from fuzz.draw import Draw
from fuzz.faults import require
from fuzz.tables import draw_columns, typed_columns

__all__ = ["TARGETS", "WORDS"]

WORDS = frozenset(
    {"X", "sample_weight", "ordinal", "covariate", "columns", "preparation", "min_frequency", "add_indicator", "drop"}
)

TYPES = (None, "category", "float32", "Int64", "string", "boolean", "datetime64[ns, CET]", "timedelta64[ns]")

PARAMETERS: dict[str, tuple[Any, ...]] = {
    "dates": ("drop", "days"),
    "missing": ("fill", "keep"),
    "add_indicator": ("auto", True, False),
    "reference": ("most_common", "first", None),
    "min_frequency": (None, 2, 0.3),
    "max_levels": (30, 2),
}

OTHER_VALUES = (None, True, -1, 10**400, 1e308, "", "x", "\ud800", "2020-13-01", [], [1, "a"], {}, {"a": 1})


def check_encoder(draw: Draw) -> None:
    """Fit an encoder to a table, and hold what it makes of it against what has to be true."""
    X = _table(draw)
    encoder = CovariateEncoder(**_parameters(draw, list(X)))
    weight = draw.rng.integers(0, 3, len(X)) if draw.chance(0.3) else None
    encoder.fit(X, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about odd cells, which these tables are full of
        values = encoder.transform(X).to_numpy()
    require(values.dtype == np.float64 and values.shape == (len(X), len(encoder.features_)), "of another shape")
    require(encoder.missing == "keep" or np.isfinite(values).all(), "not finite")
    require(not np.isinf(values).any(), "infinite")
    require(len(encoder.describe()) > 0, "nothing to say")
    _require_same_in_another_order(draw, encoder, X, values, weight)
    _check_json(draw, encoder, X, values)


def _table(draw: Draw) -> pd.DataFrame:
    columns = draw_columns(draw)
    columns = columns if draw.is_tame else typed_columns(draw, columns)
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    for name in frame:
        for target in draw.some_of(TYPES, 2):
            with suppress(Exception), np.errstate(all="ignore"):  # some types hold only some columns
                frame[name] = frame[name] if target is None else frame[name].astype(target)
                break
    return frame


def _parameters(draw: Draw, names: list[str]) -> dict[str, Any]:
    chosen = {name: draw.one_of(values) for name, values in PARAMETERS.items() if draw.chance(0.3)}
    for name in ("only", "drop", "categorical", "ordinal"):
        if not draw.is_tame and draw.chance(0.15):
            chosen[name] = draw.some_of(names, 3)
    return draw.note("parameters", chosen)


def _require_same_in_another_order(
    draw: Draw, encoder: CovariateEncoder, X: pd.DataFrame, values: np.ndarray, weight: np.ndarray | None
) -> None:
    order = draw.rng.permutation(len(X))
    again = CovariateEncoder(**encoder.get_params()).fit(
        X.iloc[order], sample_weight=None if weight is None else weight[order]
    )
    require(again.describe() == encoder.describe(), "decisions depend on the order of rows")
    shuffled = again.prepare(X.iloc[order]).X.to_numpy()
    require(
        np.allclose(shuffled, values[order], rtol=1e-12, atol=0, equal_nan=True), "values depend on the order of rows"
    )


def _check_json(draw: Draw, encoder: CovariateEncoder, X: pd.DataFrame, values: np.ndarray) -> None:
    record = json.loads(json.dumps(encoder.to_json()))
    restored = CovariateEncoder.from_json(record)
    require(np.array_equal(restored.prepare(X).X, values, equal_nan=True), "another encoder comes back")
    if draw.is_tame:
        return
    holder: Any = record
    while True:
        key = draw.one_of(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not (isinstance(holder[key], dict | list) and holder[key] and draw.chance(0.8)):
            break
        holder = holder[key]
    draw.note("key", key)
    holder[key] = draw.note("value", draw.one_of(OTHER_VALUES))
    try:
        damaged = CovariateEncoder.from_json(record)
    except ValueError as error:
        require("preparation" in str(error), f"not said of what: {error}")
        return
    with suppress(ValueError):  # columns of other names, say
        require(damaged.prepare(X).X.shape[0] == len(X), "rows are lost")
    damaged.describe()


TARGETS = {"encoder": check_encoder}
