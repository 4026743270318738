"""Models as files for people: the HTML report and the drawing of the tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dipolar.cli.destination import whole_file
from dipolar.cli.messages import UserError, refusals_as_user_errors
from dipolar.cli.model import Model

__all__ = ["PICTURE_SUFFIXES", "save_plot", "save_report"]

PICTURE_SUFFIXES = (".svg", ".pdf", ".png")


def save_report(
    model: Model, path: Path, X: Any = None, y: Any = None, *, title: str | None = None, predict_form: bool = True
) -> None:
    """Write the HTML report of a model; X and y are covariates and outcomes to summarise and to score."""
    from dipolar.report.page import render_report

    options = {"predict_form": predict_form, "title": title, "time_unit": model.time_unit}
    with refusals_as_user_errors():
        page = render_report(model.tree, X=X, y=y, **options)
    with whole_file(path) as stream:
        stream.write(page.encode("utf-8"))


def save_plot(model: Model, path: Path) -> None:
    """Draw the tree of a model to a file of the type that its suffix says."""
    try:
        from matplotlib import use
        from matplotlib.figure import Figure

        use("agg")
        from dipolar.plotting import plot_tree
    except ModuleNotFoundError as error:
        raise UserError(f"drawing needs the package {error.name}: pip install 'dipolar[plot]'.") from error
    time_label = f"time [{model.time_unit}]" if model.time_unit else "time"
    figure = plot_tree(model.tree, time_label=time_label).figure
    assert isinstance(figure, Figure)
    with whole_file(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower())
