"""What every model is held against: one curve for all, and Cox's model of a well-kept package, if one is installed."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from dipolar.curves import StepFunction, kaplan_meier

__all__ = ["COX_PACKAGES", "Cox", "KaplanMeier", "cox_package"]

# The first that is installed is taken.
COX_PACKAGES = ("sksurv", "lifelines")

# So small a ridge only makes the solution unique, where covariates say the same.
RIDGE = 1e-4


def cox_package() -> str | None:
    """Return the module that has Cox's model; None where none is installed."""
    return next((name for name in COX_PACKAGES if find_spec(name) is not None), None)


class KaplanMeier(BaseEstimator):
    """One survival curve for all, whatever their covariates."""

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Estimate the curve; covariates are not read."""
        self.curve_ = kaplan_meier(y["time"], y["event"])
        self.training_outcome_ = y
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the same risk for everybody."""
        return np.zeros(len(X))

    def predict_survival_function(self, X: Any) -> np.ndarray:
        """Predict the curve, once for everybody."""
        curves = np.empty(len(X), dtype=object)
        curves[:] = [self.curve_] * len(X)
        return curves


class Cox(BaseEstimator):
    """Cox's proportional hazards model of scikit-survival or lifelines, on covariates of variance 1.

    Parameters
    ----------
    package : {"sksurv", "lifelines"}
    """

    def __init__(self, package: str = "sksurv") -> None:
        self.package = package

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Fit the model; raise ValueError where it has no solution."""
        self.scaler_ = StandardScaler().fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that hardly vary; the scores say what they cost
            self.model_ = FITTERS[self.package](self._scaled(X), y)
        self.training_outcome_ = y
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the linear predictor, the higher, the earlier."""
        if self.package == "sksurv":
            return np.asarray(self.model_.predict(self._scaled(X)))
        return np.asarray(self.model_.predict_log_partial_hazard(pd.DataFrame(self._scaled(X))))

    def predict_survival_function(self, X: Any) -> np.ndarray:
        """Predict survival curves as step functions."""
        if self.package == "sksurv":
            return self.model_.predict_survival_function(self._scaled(X))
        table = self.model_.predict_survival_function(pd.DataFrame(self._scaled(X)))
        times, end = table.index.to_numpy(), float(self.training_outcome_["time"].max())
        curves = np.empty(len(X), dtype=object)
        curves[:] = [StepFunction(times, values, 1.0, (0.0, end)) for values in table.to_numpy().T]
        return curves

    def _scaled(self, X: Any) -> np.ndarray:
        return np.asarray(self.scaler_.transform(X))


def _fit_sksurv(X: np.ndarray, y: np.ndarray) -> Any:
    linear_model = import_module("sksurv.linear_model")
    return linear_model.CoxPHSurvivalAnalysis(alpha=RIDGE, ties="efron").fit(X, y)


def _fit_lifelines(X: np.ndarray, y: np.ndarray) -> Any:
    lifelines = import_module("lifelines")
    frame = pd.DataFrame(X).assign(time=y["time"], event=y["event"])
    return lifelines.CoxPHFitter(penalizer=RIDGE).fit(frame, "time", "event")


FITTERS = {"sksurv": _fit_sksurv, "lifelines": _fit_lifelines}
