"""What fitted trees and forests have in common: curves, the score, files."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any, BinaryIO, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dipolar.metrics.concordance import concordance_index
from dipolar.tree.persistence import not_a_model, plain_parameters, read_model, restored_parameters, write_model
from dipolar.validation import check_predict_data

__all__ = ["SurvivalModel"]


class SurvivalModel(BaseEstimator):
    """A fitted model that predicts a risk and survival curves, and can be saved.

    A subclass predicts risks, quantiles and curves (`predict`, `predict_quantile`, `_curves`), and says what makes up
    a fitted model (`_header`, `_arrays`, `_restore`).
    """

    # Whether missing values are learnt from.
    _allow_nan = False

    n_features_in_: int

    def predict_survival_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict survival functions: the Kaplan-Meier estimate of each row's leaf; in a forest, their mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        return_array : bool, default=False
            Whether to return the values at `unique_times_` instead of step functions.

        Returns
        -------
        survival : ndarray
            Of shape (n_samples,) with a :class:`~dipolar.curves.StepFunction` each (rows of one leaf of a tree share
            it), or of shape (n_samples, n_unique_times). Beyond its last time a curve keeps its last value.
        """
        return self._curves(X, return_array, hazard=False)

    def predict_cumulative_hazard_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict cumulative hazard functions: as :meth:`predict_survival_function`, by the Nelson-Aalen estimate."""
        return self._curves(X, return_array, hazard=True)

    def predict_median(self, X: Any, unreached: str = "inf") -> np.ndarray:
        """Predict median survival times; see :meth:`predict_quantile`."""
        return self.predict_quantile(X, 0.5, unreached)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index of the predicted risks; pairs with equal risks count 1/2.

        A pair is comparable when the earlier time is an event; an event tied with a censoring counts as earlier, and
        two tied events are left out.
        """
        return concordance_index(y, self.predict(X), sample_weight=sample_weight)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Save the fitted model to one file without pickle, or to an open binary file; see :meth:`load`.

        A `random_state` that is not an integer is saved as None. The file appears complete or not at all.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        header = {
            "estimator": type(self).__name__,
            "dipolar": version("dipolar"),
            "parameters": plain_parameters(self),
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
        }
        write_model(path, header | self._header(), self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote. The file is only read: nothing in it is executed.

        A truncated, damaged or foreign file, one of another estimator and one of a newer format raise ValueError.
        """
        header, arrays = read_model(path)
        if header.get("estimator") != cls.__name__:
            raise ValueError(
                f"{os.fspath(path)!r} holds a {header.get('estimator')!r}, not a {cls.__name__!r}. "
                "Load it with that class."
            )
        try:
            model = cls(**restored_parameters(header["parameters"]))
            model.n_features_in_ = int(header["n_features"])
            if header["feature_names"] is not None:
                model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
            model._restore(header, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise not_a_model(path, error) from error
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    # What a subclass provides.

    def predict(self, X: Any) -> np.ndarray:
        """Predict a risk: the higher, the earlier the event is expected."""
        raise NotImplementedError

    def predict_quantile(self, X: Any, q: float = 0.5, unreached: str = "inf") -> np.ndarray:
        """Predict the time by which a share `q` is expected to have had the event."""
        raise NotImplementedError

    def _curves(self, X: Any, return_array: bool, *, hazard: bool) -> np.ndarray:
        """Return step functions, or their values at `unique_times_`: of the hazard, or of survival."""
        raise NotImplementedError

    def _header(self) -> dict[str, Any]:
        """What a file says of the fitted model in words and single numbers."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the fitted model by name."""
        raise NotImplementedError

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Set what fitting sets, from what a file holds; raise ValueError if that is no such model."""
        raise NotImplementedError

    def _check_covariates(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_predict_data(self, X, allow_nan=self._allow_nan)
