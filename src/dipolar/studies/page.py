"""The page of the documentation that shows what came out, written from results files and from nothing else.

Run `python -m dipolar.studies.page FOLDER PAGE`; figures go to `images` beside the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from dipolar.studies.catalogue import STUDIES
from dipolar.studies.comparison import MARKS, Comparison
from dipolar.studies.journal import Recorded, read_journal
from dipolar.studies.session import versions_text
from dipolar.studies.speed import duration, speed_table, wall_seconds
from dipolar.studies.study import Study
from dipolar.studies.summary import Results
from dipolar.studies.table import Table

__all__ = ["find_results", "page_text", "write_page"]

INTRODUCTION = """# The paper, reproduced

`dipolar reproduce NAME` runs a table or figure of Maung, Lazar and Zheng anew and puts its printed numbers beside ours;
`dipolar reproduce` lists the names. This page is written by `python -m dipolar.studies.page results docs/reproduction.md`
from the files in [`results`](../results): no number on it was typed in.

- **Units.** One model on one sample is a unit of work. It is seeded by the name of the design and the number of the
  replicate, so that all models see the same rows, and appended to the results file as it ends. A run may be killed at any
  moment; `--resume` goes on with what is missing, and refuses a file that was made with other settings. `--jobs N` runs N at
  a time, `--scheduler ADDRESS` runs them on a Dask cluster; the tables do not depend on it.
- **Readings.** The text and the authors' public scripts differ, so everything is computed both ways in the same run: pruning
  by the bootstrap and at a fixed price, the paper's concordance and Harrell's, three Brier scores, of test rows and of
  training rows. *text* and *scripts* are the two combinations that belong together; all others are in the CSV file.
- **Marks.** Within one printed standard deviation of the printed mean, within two, or outside; half a unit of the last
  printed digit is allowed for rounding. Reasons, where they are known, are kept in `src/dipolar/studies/printed/reasons.csv`.
- **Truth.** The scores of the true hazard on the same test rows stand below the trees of each simulated design.
"""  # noqa: E501 - lines of Markdown


def find_results(folder: Path) -> dict[str, Path]:
    """Return the results files of a folder by study, plain or packed by gzip."""
    names = {name: [folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"] for name in STUDIES}
    return {name: path for name, paths in names.items() for path in paths if path.exists()}


def page_text(folder: Path) -> str:
    """Return the page for the results of a folder."""
    files = find_results(folder)
    recorded = {name: read_journal(path) for name, path in files.items()}
    results = {name: _in_order(STUDIES[name], found) for name, found in recorded.items()}
    parts = [INTRODUCTION, *_summary(results)]
    parts += [_section(STUDIES[name], recorded[name], results[name]) for name in files]
    missing = [f"`{name}`" for name in STUDIES if name not in files]
    if missing:
        parts.append(f"## Not run\n\nThere are no results of {', '.join(missing)} in this folder.\n")
    return "\n".join(parts)


def write_page(folder: Path, page: Path) -> None:
    """Write the page, and its figures as PNG."""
    import matplotlib as mpl

    mpl.use("agg")
    page.write_text(page_text(folder), encoding="utf-8")
    for name, path in find_results(folder).items():
        study = STUDIES[name]
        for figure, draw in study.figures(_in_order(study, read_journal(path))).items():
            target = page.parent / "images" / f"{study.picture_stem(figure)}.png"
            draw().savefig(target, dpi=100, metadata={"Software": None}, bbox_inches="tight")


def _in_order(study: Study, recorded: Recorded) -> Results:
    """Return the results in the order of the study's plan, whatever order they ended in."""
    order = {source: number for number, source in enumerate(study.sources)}
    models = {source: {m: n for n, m in enumerate(study.models_of(source))} for source in study.sources}
    ranked = sorted(recorded.units, key=lambda u: (u.replicate, order[u.source], models[u.source][u.model]))
    return {unit: recorded.units[unit] for unit in ranked}


def _summary(results: dict[str, Results]) -> list[str]:
    """Return how many printed numbers come out, and how fast the simulations went."""
    rows = []
    for name, found in results.items():
        comparisons = STUDIES[name].comparisons(found)
        if comparisons:
            rows.append([f"`{name}`", str(len(comparisons)), *_counts(comparisons)])
    columns = ["study", "printed numbers"]
    columns += [f"{reading}: {mark}" for reading in ("text", "scripts") for mark in MARKS] + [
        "fits neither nor another"
    ]
    parts = []
    if rows:
        parts.append(Table("summary", "In short", columns, rows, left=1).markdown())
    simulated = [found for name, found in results.items() if name.startswith("sim-")]
    if simulated:
        parts.append(speed_table(simulated, STUDIES["sim-p2"].default_runs).markdown())
    return parts


def _counts(comparisons: Iterable[Comparison]) -> list[str]:
    comparisons = list(comparisons)
    text = [sum(c.text.mark == mark for c in comparisons) for mark in MARKS]
    scripts = [sum(c.scripts.mark == mark for c in comparisons) for mark in MARKS]
    return [str(count) for count in (*text, *scripts, sum(c.fits() in ("none", "no") for c in comparisons))]


def _section(study: Study, recorded: Recorded, results: Results) -> str:
    """Return a study: how it was run, its figures, its tables."""
    parts = [f"## {study.title}", _how(study, recorded, results)]
    parts += [f"![{study.title}](images/{study.picture_stem(figure)}.png)" for figure in study.figures(results)]
    parts += [table.markdown(level=3).rstrip() for table in study.tables(results)]
    return "\n\n".join(parts) + "\n"


def _how(study: Study, recorded: Recorded, results: Results) -> str:
    """Return command, duration and versions."""
    versions = list(dict.fromkeys(versions_text(session) for session in recorded.sessions))
    failed = f" {len(recorded.failures)} units failed." if recorded.failures else ""
    took = f"{len(results)} units in {duration(wall_seconds(results))}"
    return f"`{_command(study, recorded, results)}`: {took}.{failed} {'; then '.join(versions)}."


def _command(study: Study, recorded: Recorded, results: Results) -> str:
    """Return a command that makes these results."""
    words = ["dipolar", "reproduce", study.name]
    if study.default_runs:
        words += ["--runs", str(max((unit.replicate for unit in results), default=0) + 1)]
    words += _choice("--source", study.sources, {unit.source for unit in results})
    models = tuple(dict.fromkeys(model for source in study.sources for model in study.models_of(source)))
    words += _choice("--model", models, {unit.model for unit in results})
    jobs = max((session.get("jobs", 1) for session in recorded.sessions), default=1)
    return " ".join([*words, "--jobs", str(jobs)])


def _choice(option: str, known: Sequence[str], used: set[str]) -> list[str]:
    """Return the options that choose some of the known names, and nothing where all are used."""
    return [] if used == set(known) else [word for name in known if name in used for word in (option, name)]


if __name__ == "__main__":
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
