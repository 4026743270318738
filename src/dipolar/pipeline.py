"""Pipelines that predict all that their last step does: curves, medians and leaves beside risks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import sklearn.pipeline
from sklearn.utils.metaestimators import available_if

from dipolar.survival_model import SurvivalModel, write_page

__all__ = ["SurvivalPipeline", "make_pipeline"]


def _of_last_step(name: str) -> Callable[..., Any]:
    """Return a method that asks the last step, if it has it, about what the steps before make of X."""

    def ask(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(self.steps[-1][1], name)(self[:-1].transform(X), *arguments, **options)

    ask.__name__ = name
    ask.__doc__ = getattr(SurvivalModel, name).__doc__
    return available_if(lambda self: hasattr(self.steps[-1][1], name))(ask)


class SurvivalPipeline(sklearn.pipeline.Pipeline):
    """A :class:`sklearn.pipeline.Pipeline` that also predicts curves, medians and leaves; see :func:`make_pipeline`."""

    predict_survival_function = _of_last_step("predict_survival_function")
    predict_cumulative_hazard_function = _of_last_step("predict_cumulative_hazard_function")
    predict_quantile = _of_last_step("predict_quantile")
    predict_median = _of_last_step("predict_median")
    predict_rmst = _of_last_step("predict_rmst")
    apply = _of_last_step("apply")

    @available_if(lambda self: hasattr(self.steps[-1][1], "to_html"))
    def to_html(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the tree as one HTML file that asks for the original columns; see :meth:`SurvivalModel.to_html`."""
        return write_page(self, path, **options)

    @available_if(lambda self: hasattr(self.steps[-1][1], "node_frame"))
    def node_frame(self, unreached: str = "inf") -> pd.DataFrame:
        """Return one row per node of the tree, its rule in terms of the original columns."""
        features = getattr(self.steps[0][1], "features_", None) if len(self.steps) == 2 else None
        return self.steps[-1][1].node_frame(unreached, feature_names=features)


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> SurvivalPipeline:
    """Make a pipeline of transformers and a survival model, as :func:`sklearn.pipeline.make_pipeline` does.

    scikit-learn's own pipelines fit, predict risks and score just as well; they do not pass on questions about curves.

    Parameters
    ----------
    *steps : transformers, and a model at the end
    memory, verbose
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> from dipolar import CovariateEncoder, LogRankSurvivalTree, make_pipeline
    >>> X = pd.DataFrame({"sex": ["m", "f"] * 20})
    >>> y = ([1, 10] * 20, [True] * 40)
    >>> model = make_pipeline(CovariateEncoder(), LogRankSurvivalTree()).fit(X, y)
    >>> model.predict_median(X[:2])
    array([ 1., 10.])
    """
    named = sklearn.pipeline.make_pipeline(*steps).steps
    return SurvivalPipeline(named, memory=memory, verbose=verbose)
