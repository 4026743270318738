"""Models as files for people: the HTML report, and the drawing of a tree or of what matters to a forest."""

from __future__ import annotations

from pathlib import Path

from dipolar.cli.destination import whole_file
from dipolar.cli.estimators import SurvivalTree
from dipolar.cli.messages import UserError, refusals_as_user_errors
from dipolar.cli.model import Model
from dipolar.cli.scored import ScoredRows
from dipolar.pipeline import make_pipeline

__all__ = ["PICTURE_SUFFIXES", "check_picture", "save_plot", "save_report"]

PICTURE_SUFFIXES = (".svg", ".pdf", ".png")


def save_report(
    model: Model,
    path: Path,
    rows: ScoredRows | None = None,
    *,
    title: str | None = None,
    predict_form: bool = True,
    scores: str = "cv",
) -> None:
    """Write the HTML report of a model, with rows to summarise and to score if there are some.

    The page speaks of the columns that the encoder knows. Cross-validation would fit the tree of a forest to the
    outcomes, which it is not: its page has the scores of the rows alone.
    """
    from dipolar.report.page import render_report

    tree, about = _shown_tree(model, rows)
    whole = tree if model.encoder is None else make_pipeline(model.encoder, tree)
    heading = ": ".join(part for part in (title, about) if part) or None
    with refusals_as_user_errors():
        page = render_report(
            whole,
            X=None if rows is None else rows.columns,
            y=None if rows is None else rows.y,
            predict_form=predict_form,
            scores="training" if model.is_forest else scores,
            title=heading,
            time_unit=model.time_unit,
        )
    with whole_file(path) as stream:
        stream.write(page.encode("utf-8"))


def check_picture(path: Path) -> None:
    """Refuse a file whose type is no picture's."""
    if path.suffix.lower() not in PICTURE_SUFFIXES:
        raise UserError(f"{path} should end with {', '.join(PICTURE_SUFFIXES[:-1])} or {PICTURE_SUFFIXES[-1]}.")


def save_plot(model: Model, path: Path, rows: ScoredRows | None = None) -> None:
    """Draw a model to a file of the type that its suffix says: a forest without rows as importances, else a tree."""
    try:
        from matplotlib import use
        from matplotlib.figure import Figure

        use("agg")
        from dipolar.plotting import plot_importance, plot_tree
    except ModuleNotFoundError as error:
        raise UserError(f"drawing needs the package {error.name}: pip install 'dipolar[plot]'.") from error
    if model.is_forest and rows is None:
        axes = plot_importance(model.fitted)
    else:
        tree, about = _shown_tree(model, rows)
        whole = tree if model.encoder is None else make_pipeline(model.encoder, tree)
        axes = plot_tree(whole, time_label=f"time [{model.time_unit}]" if model.time_unit else "time")
        axes.set_title(about or "")
    figure = axes.figure
    assert isinstance(figure, Figure)
    with whole_file(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), bbox_inches="tight" if model.is_forest else None)


def _shown_tree(model: Model, rows: ScoredRows | None) -> tuple[SurvivalTree, str | None]:
    """Return the tree to show, and of a forest's in words how well it agrees."""
    if not model.is_forest:
        return model.tree, None
    if rows is None:
        raise UserError(
            "a forest keeps no rows, and the tree that agrees best with it is found on some. Give the rows that it was "
            "fitted to: --data DATA."
        )
    with refusals_as_user_errors():
        summary = model.fitted.summary_tree(rows.X, rows.y, random_state=0)
    return summary.tree, f"the tree that agrees best with the forest (explains {100 * summary.agreement:.0f} % of it)"
