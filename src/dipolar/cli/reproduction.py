"""The files of a study: which they are, whether they may be written, and how tables and figures get there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from dipolar.cli.destination import check_destination, whole_file, write_table
from dipolar.cli.messages import UserError, listed
from dipolar.studies.speed import speed_table
from dipolar.studies.study import Study
from dipolar.studies.summary import Results
from dipolar.studies.table import Table

__all__ = ["StudyFiles", "grid_of", "require_matplotlib"]

PICTURE_SUFFIXES = (".png", ".svg")
DPI = 130


@dataclass(frozen=True)
class StudyFiles:
    """The names of what a study writes into its folder."""

    folder: Path
    study: Study
    with_figures: bool = True

    @property
    def results(self) -> Path:
        """The file that a run appends to."""
        return self.folder / f"{self.study.name}.jsonl"

    @property
    def markdown(self) -> Path:
        return self.folder / f"{self.study.name}.md"

    @property
    def csv(self) -> Path:
        return self.folder / f"{self.study.name}.csv"

    @property
    def speed(self) -> Path:
        return self.folder / f"{self.study.name}-speed.md"

    def picture(self, name: str, suffix: str) -> Path:
        return self.folder / f"{self.study.picture_stem(name)}{suffix}"

    def check(self, *, resume: bool, force: bool) -> None:
        """Refuse before the work what could not be written after it, and what would be overwritten."""
        if resume and force:
            raise UserError("--resume continues a file and --force replaces it. Leave one of them out.")
        if self._figures({}):
            require_matplotlib()
        if not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise UserError(f"the folder {self.folder.parent} does not exist. Make it, or give another --output.")
            self.folder.mkdir()
        names = [self.results, self.markdown, self.csv, self.speed]
        names += [self.picture(name, suffix) for name in self._figures({}) for suffix in PICTURE_SUFFIXES]
        there = [path for path in names if path.exists()]
        if there and not (resume or force):
            raise UserError(
                f"there are results already: {listed(there)}. Continue them with --resume, replace them with --force, "
                "or give another --output."
            )
        for path in names:
            check_destination(path, force=True)

    def write_tables(self, tables: list[Table], results: Results) -> list[Path]:
        """Write the tables as Markdown, the comparison as CSV, and the speed apart: that differs from run to run."""
        text = f"# {self.study.title}\n\n" + "\n".join(table.markdown() for table in tables)
        _write_text(self.markdown, text)
        write_table(self.study.frame(results), self.csv)
        _write_text(self.speed, self.speed_table(results).markdown())
        return [self.csv, self.markdown, self.speed]

    def speed_table(self, results: Results) -> Table:
        """Return how fast the study went, with the time of the paper's replicates where there are such."""
        return speed_table([results], self.study.default_runs)

    def write_figures(self, results: Results) -> list[Path]:
        """Draw every figure to PNG and SVG; the same results give the same bytes."""
        figures = self._figures(results)
        if not figures:
            return []
        import matplotlib as mpl
        from matplotlib import pyplot as plt

        mpl.use("agg")
        written = []
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "dipolar"}):
            for name, draw in figures.items():
                figure = draw()
                for suffix in PICTURE_SUFFIXES:
                    path = self.picture(name, suffix)
                    metadata: dict[str, Any] = {"Date": None} if suffix == ".svg" else {"Software": None}
                    with whole_file(path) as stream:
                        figure.savefig(stream, format=suffix[1:], dpi=DPI, metadata=metadata, bbox_inches="tight")
                    written.append(path)
                plt.close(figure)
        return written

    def _figures(self, results: Results) -> dict[str, Callable[[], Any]]:
        return self.study.figures(results) if self.with_figures else {}


def require_matplotlib() -> None:
    """Refuse to start what could not be drawn at its end."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise UserError(f"drawing needs the package {error.name}: pip install 'dipolar[plot]'.") from error


def grid_of(table: Table) -> Grid:
    """Return a table for the terminal."""
    grid = Grid(title=table.title, title_justify="left", title_style="bold")
    shown = [number for number, heading in enumerate(table.columns) if heading not in table.wide]
    for number in shown:
        grid.add_column(table.columns[number], justify="left" if table.is_text(number) else "right")
    for row in table.rows:
        grid.add_row(*(row[number] for number in shown))
    return grid


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8"))
