"""A table in, a fitted model out."""

from __future__ import annotations

import pandas as pd

from dipolar import SurvivalTreeCV
from dipolar.cli.choices import Asked, ModelKind
from dipolar.cli.data import Data
from dipolar.cli.estimators import make_model
from dipolar.cli.messages import refusals_as_user_errors
from dipolar.cli.model import Model

__all__ = ["fit_model"]


def fit_model(data: Data, kind: ModelKind, asked: Asked) -> tuple[Model, SurvivalTreeCV | None, pd.DataFrame]:
    """Return the model, the search that has chosen it if there was one, and the covariates it was fitted to."""
    encoder = data.encoder(kind)
    X = encoder.transform(data.covariates)
    with refusals_as_user_errors():
        fitted = make_model(kind, asked).fit(X, data.y)
    tuned = fitted if isinstance(fitted, SurvivalTreeCV) else None
    chosen = fitted if tuned is None else tuned.best_estimator_
    return Model(chosen, encoder, data.outcome.columns, data.outcome.time_unit), tuned, X
