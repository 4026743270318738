"""Read the bundled data sets into covariates and checked outcomes.

Where the files come from, what their columns mean, and where their counts differ from the printed ones is
written once, in `data/SOURCES.md`; each loader hands out its section as `DESCR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from dipolar.survival import survival_outcome

OUTCOME_COLUMNS = ("time", "event")
COVARIATE_CHOICES = ("paper", "all")


@dataclass(frozen=True)
class Source:
    """One bundled file, and which of its columns a model may use."""

    name: str
    time_unit: str
    description: str
    paper_covariates: tuple[str, ...]
    not_covariates: tuple[str, ...] = ()  # known only after entry, or not a measurement
    section: str = ""  # heading in SOURCES.md; empty: the name

    @property
    def filename(self) -> str:
        """Name of the file inside the `data` folder."""
        return f"{self.name}.csv"

    def choose(self, columns: pd.Index, covariates: str) -> list[str]:
        """Return the columns that `covariates` asks for."""
        if covariates == "paper":
            return list(self.paper_covariates)
        left_out = {*OUTCOME_COLUMNS, *self.not_covariates}
        return [column for column in columns if column not in left_out]


WHAS_COVARIATES = ("hr", "diasbp", "bmi", "gender", "chf")
WHAS_NOT_COVARIATES = ("los", "dstat", "admitdate", "disdate", "fdate")

SOURCES = {
    source.name: source
    for source in (
        Source("remission", "weeks", "time to relapse of leukaemia patients in remission", ("TR", "logWBC")),
        Source("addicts", "days", "time in methadone maintenance of heroin users", ("clinic", "prison", "dose")),
        Source(
            "cost",
            "days",
            "survival after a stroke, Copenhagen Stroke Study",
            ("age", "strokeScore", "diabetes", "atrialFib", "smoke"),
        ),
        Source(
            "leuksurv",
            "days",
            "survival with acute myeloid leukaemia, north-west England",
            ("age", "wbc", "tpi", "xcoord", "ycoord"),
        ),
        Source(
            "mgus",
            "days",
            "survival with monoclonal gammopathy, Mayo Clinic",
            ("age", "sex", "hgb", "mspike"),
            not_covariates=("pcdx", "pctime"),
        ),
        Source(
            "whas500",
            "days",
            "survival after a heart attack, patients who left hospital alive",
            WHAS_COVARIATES,
            not_covariates=WHAS_NOT_COVARIATES,
        ),
        Source(
            "whas500_full",
            "days",
            "survival after a heart attack, all patients",
            WHAS_COVARIATES,
            not_covariates=WHAS_NOT_COVARIATES,
            section="whas500",
        ),
    )
}


def list_datasets() -> pd.DataFrame:
    """List the bundled data sets.

    Returns
    -------
    datasets : DataFrame
        One row per data set: `name`, number of rows `n`, number of `events`, the `covariates` of the paper as
        comma-separated text, the `time_unit`, and a one-line `description`. The counts are taken from the files.

    Examples
    --------
    >>> from dipolar.datasets import list_datasets
    >>> list_datasets()[["name", "n", "events"]]
               name     n  events
    0     remission    42      30
    1       addicts   238     150
    2          cost   518     404
    3      leuksurv  1043     879
    4          mgus   241     225
    5       whas500   461     176
    6  whas500_full   500     215
    """
    return pd.DataFrame([_summary(source) for source in SOURCES.values()])


def load_dataset(
    name: str, *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load a bundled data set by its name.

    Parameters
    ----------
    name : str
        A name that :func:`list_datasets` lists.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=True
        Whether the covariates are a DataFrame or a float64 array.
    covariates : {"paper", "all"}, default="paper"
        The covariates that the paper's models used, or all that were known at entry. Columns that were
        recorded later are in neither.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries

        data : DataFrame or ndarray of shape (n_samples, n_features)
            Covariates; missing values are NaN.
        target : structured ndarray of shape (n_samples,)
            Outcomes, fields `event` and `time`, as :func:`dipolar.survival_outcome` makes them.
        feature_names : list of str
            Names of the covariates.
        time_unit : str
            What times are counted in: "days" or "weeks".
        frame : DataFrame or None
            `time`, `event` and the covariates side by side; None without `as_frame`.
        DESCR : str
            Source, licence, columns, and differences from the printed counts.
        name, filename, data_module : str
            Name of the data set, and the packaged file that it was read from.

    (data, target) : tuple
        If `return_X_y` is True.
    """
    source = _find_source(name)
    _require_choice(covariates)
    table = _read_table(source)
    feature_names = source.choose(table.columns, covariates)
    data = table[feature_names] if as_frame else table[feature_names].to_numpy(dtype=np.float64)
    target = survival_outcome(table["time"], table["event"])
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        time_unit=source.time_unit,
        frame=table[[*OUTCOME_COLUMNS, *feature_names]] if as_frame else None,
        DESCR=_description(source),
        name=source.name,
        filename=source.filename,
        data_module="dipolar.datasets.data",
    )


def load_remission(
    *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the remission times of 42 leukaemia patients, 30 relapses.

    The paper's covariates are treatment and log white blood cell count (`TR`, `logWBC`); "all" adds `sex`.
    Parameters and result are those of :func:`load_dataset`.

    Examples
    --------
    >>> from dipolar.datasets import load_remission
    >>> X, y = load_remission(return_X_y=True)
    >>> X.shape, int(y["event"].sum())
    ((42, 2), 30)
    """
    return load_dataset("remission", return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def load_addicts(
    *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the time in methadone treatment of 238 heroin users, 150 departures.

    The covariates are `clinic`, `prison` and `dose`, whichever choice is made. The paper counts 239 rows.
    Parameters and result are those of :func:`load_dataset`.
    """
    return load_dataset("addicts", return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def load_cost(
    *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the survival of 518 stroke patients of the Copenhagen Stroke Study, 404 events.

    The paper's covariates are `age`, `strokeScore`, `diabetes`, `atrialFib` and `smoke`; "all" has 13.
    Parameters and result are those of :func:`load_dataset`.
    """
    return load_dataset("cost", return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def load_leuksurv(
    *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the survival of 1043 patients with acute myeloid leukaemia, 879 deaths.

    The paper's covariates are `age`, `wbc`, `tpi` and the residence (`xcoord`, `ycoord`); "all" adds `sex`
    and `district`, a nominal code. Parameters and result are those of :func:`load_dataset`.
    """
    return load_dataset("leuksurv", return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def load_mgus(
    *, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the survival of 241 patients with monoclonal gammopathy, 225 deaths.

    The paper's covariates are `age`, `sex`, `hgb` and `mspike`, and one `hgb` is missing; "all" adds
    `creat`, `alb` and `dxyr`, of which the first two have 43 and 31 missing values. Parameters and result
    are those of :func:`load_dataset`.
    """
    return load_dataset("mgus", return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def load_whas500(
    *, complete: bool = False, return_X_y: bool = False, as_frame: bool = True, covariates: str = "paper"
) -> Bunch | tuple[Any, np.ndarray]:
    """Load the survival after a heart attack, Worcester Heart Attack Study.

    The paper's covariates are `hr`, `diasbp`, `bmi`, `gender` and `chf`; "all" has 14.

    Parameters
    ----------
    complete : bool, default=False
        False: the paper's 461 patients who left hospital alive, 176 deaths. True: all 500, 215 deaths.
    return_X_y, as_frame, covariates
        As in :func:`load_dataset`, and so is the result.
    """
    name = "whas500_full" if complete else "whas500"
    return load_dataset(name, return_X_y=return_X_y, as_frame=as_frame, covariates=covariates)


def _find_source(name: str) -> Source:
    if name not in SOURCES:
        raise ValueError(f"name must be one of {list(SOURCES)}, got {name!r}. list_datasets() describes them.")
    return SOURCES[name]


def _require_choice(covariates: str) -> None:
    if covariates not in COVARIATE_CHOICES:
        raise ValueError(
            f"covariates must be 'paper' or 'all', got {covariates!r}. "
            "For any other selection, load 'all' and select columns of the data."
        )


def _data_file(filename: str) -> Any:
    return resources.files("dipolar.datasets").joinpath("data", filename)


def _read_table(source: Source) -> pd.DataFrame:
    with _data_file(source.filename).open(encoding="utf-8") as file:
        return pd.read_csv(file)


def _description(source: Source) -> str:
    """Return the section of SOURCES.md that describes the data set."""
    text = _data_file("SOURCES.md").read_text(encoding="utf-8")
    heading = f"## {source.section or source.name}\n"
    section = text.split(heading, maxsplit=1)[1].split("\n## ", maxsplit=1)[0]
    return f"{heading}{section}".strip()


def _summary(source: Source) -> dict[str, Any]:
    table = _read_table(source)
    return {
        "name": source.name,
        "n": len(table),
        "events": int(table["event"].sum()),
        "covariates": ", ".join(source.paper_covariates),
        "time_unit": source.time_unit,
        "description": source.description,
    }
