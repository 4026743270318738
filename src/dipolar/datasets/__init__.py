"""The data sets of the paper's tables and figures, ready to fit."""

from dipolar.datasets.loaders import (
    list_datasets,
    load_addicts,
    load_cost,
    load_dataset,
    load_leuksurv,
    load_mgus,
    load_remission,
    load_whas500,
)

__all__ = [
    "list_datasets",
    "load_addicts",
    "load_cost",
    "load_dataset",
    "load_leuksurv",
    "load_mgus",
    "load_remission",
    "load_whas500",
]
