"""The files of a study: which they are, whether they may be written, and how tables and figures get there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

from dipolar.cli.destination import check_destination, whole_file, write_table
from dipolar.cli.messages import UserError, listed
from dipolar_reproduction.speed import speed_table
from dipolar_reproduction.study import Results, Study
from dipolar_reproduction.table import Table

PICTURE_SUFFIXES = (".png", ".svg")
DPI = 130


@dataclass(frozen=True)
class StudyFiles:
    """The names of what a study writes into its folder."""

    folder: Path
    study: Study
    with_figures: bool = True

    def path(self, ending: str) -> Path:
        return self.folder / f"{self.study.name}{ending}"

    @property
    def results(self) -> Path:
        """The file that a run keeps its results in."""
        return self.path(".sqlite")

    def check(self, *, resume: bool, force: bool) -> None:
        """Refuse before the work what could not be written after it, and what would be overwritten."""
        if resume and force:
            raise UserError("--resume continues results and --force replaces them. Leave one of them out.")
        if not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise UserError(f"the folder {self.folder.parent} does not exist. Make it, or give another --output.")
            self.folder.mkdir()
        paths = [self.results, *(self.path(ending) for ending in (".md", ".csv", "-speed.md"))]
        paths += [self.folder / f"{stem}{suffix}" for stem in self._figures({}) for suffix in PICTURE_SUFFIXES]
        there = [path for path in paths if path.exists()]
        if there and not (resume or force):
            raise UserError(
                f"there are results already: {listed(there)}. Continue them with --resume, replace them with --force, "
                "or give another --output."
            )
        for path in paths:
            check_destination(path, force=True)

    def write_tables(self, tables: list[Table], results: Results) -> list[Path]:
        """Write the tables as Markdown, the comparison as CSV, and the speed apart: that differs from run to run."""
        text = f"# {self.study.title}\n\n" + "\n".join(table.markdown() for table in tables)
        speed = speed_table([results], self.study.default_runs).markdown()
        write_table(self.study.frame(results), self.path(".csv"))
        write_bytes(self.path(".md"), text.encode())
        write_bytes(self.path("-speed.md"), speed.encode())
        return [self.path(ending) for ending in (".csv", ".md", "-speed.md")]

    def write_figures(self, results: Results) -> list[Path]:
        """Draw every figure to PNG and SVG; the same results give the same bytes."""
        written = []
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "dipolar"}):
            for stem, draw in self._figures(results).items():
                figure = draw()
                for suffix in PICTURE_SUFFIXES:
                    path = self.folder / f"{stem}{suffix}"
                    metadata: dict[str, Any] = {"Date": None} if suffix == ".svg" else {"Software": None}
                    with whole_file(path) as stream:
                        figure.savefig(stream, format=suffix[1:], dpi=DPI, metadata=metadata, bbox_inches="tight")
                    written.append(path)
        return written

    def _figures(self, results: Results) -> dict[str, Any]:
        return self.study.figures(results) if self.with_figures else {}


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    with whole_file(path) as stream:
        stream.write(content)
