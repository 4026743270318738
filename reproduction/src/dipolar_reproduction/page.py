"""The page of the documentation that shows what came out, written from exported results and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dipolar.cli.destination import whole_file
from dipolar.cli.messages import UserError
from dipolar_reproduction.catalogue import STUDIES
from dipolar_reproduction.comparison import MARKS, Comparison
from dipolar_reproduction.export import read_export
from dipolar_reproduction.files import write_bytes
from dipolar_reproduction.session import versions_text
from dipolar_reproduction.speed import duration, speed_table, wall_seconds
from dipolar_reproduction.store import Recorded
from dipolar_reproduction.study import Study
from dipolar_reproduction.table import Table

INTRODUCTION = """# The paper, reproduced

The study is a distribution of its own, in [`reproduction`](../reproduction): `pip install ./reproduction`, beside the library. `dipolar-reproduce run NAME`
runs a table or figure of Maung, Lazar and Zheng anew and puts its printed numbers beside ours; `dipolar-reproduce list` has the names. This page is written by
`dipolar-reproduce page results docs/reproduction.md` from the files in [`results`](../results): no number on it was typed in.

- **Units.** One model on one sample is a unit of work. It is seeded by the name of the design and the number of the
  replicate, so that all models see the same rows, and becomes a row of the study's SQLite file as it ends. A run may be killed at any
  moment; `--resume` goes on with what is missing, and refuses a file that was made with other settings. A file belongs to one run at a
  time. `--jobs N` runs N units at a time, `--scheduler ADDRESS` runs them on a Dask cluster; the tables do not depend on it. `dipolar-reproduce
  export` and `import` turn such a file into JSON lines, as they are in `results`, and back.
- **Readings.** The text and the authors' public scripts differ, so everything is computed both ways in the same run: pruning
  by the bootstrap and at a fixed price, the paper's concordance and Harrell's, three Brier scores, of test rows and of
  training rows. *text* and *scripts* are the two combinations that belong together; all others are in the CSV file.
- **Marks.** Within one printed standard deviation of the printed mean, within two, or outside; half a unit of the last
  printed digit is allowed for rounding. Reasons, where they are known, are kept in `printed/reasons.csv` of the distribution.
- **Truth.** The scores of the true hazard on the same test rows stand below the trees of each simulated design.
"""  # noqa: E501 - lines of Markdown


def page_text(folder: Path) -> str:
    """Return the page for the results of a folder."""
    recorded = _read(folder)
    parts = [INTRODUCTION, *_summary(recorded)]
    parts += [_section(STUDIES[name], found) for name, found in recorded.items()]
    missing = [f"`{name}`" for name in STUDIES if name not in recorded]
    if missing:
        parts.append(f"## Not run\n\nThere are no results of {', '.join(missing)} in this folder.\n")
    return "\n".join(parts)


def write_page(folder: Path, page: Path) -> None:
    """Write the page, and its figures as PNG."""
    recorded = _read(folder)
    if not recorded:
        raise UserError(f"there are no exported results in {folder}. Make some: dipolar-reproduce run, then export.")
    write_bytes(page, page_text(folder).encode())
    images = page.parent / "images"
    images.mkdir(exist_ok=True)
    for name, found in recorded.items():
        for stem, draw in STUDIES[name].figures(found.units).items():
            with whole_file(images / f"{stem}.png") as stream:
                draw().savefig(stream, format="png", dpi=100, metadata={"Software": None}, bbox_inches="tight")


def _read(folder: Path) -> dict[str, Recorded]:
    """Return the exported results of a folder by study, with units in the order of the plan."""
    paths = {name: folder / f"{name}.jsonl.gz" for name in STUDIES}
    recorded = {name: read_export(path) for name, path in paths.items() if path.exists()}
    for name, found in recorded.items():
        found.units = STUDIES[name].in_order(found.units)
    return recorded


def _summary(recorded: dict[str, Recorded]) -> list[str]:
    """Return how many printed numbers come out, and how fast the simulations went."""
    compared = {name: STUDIES[name].comparisons(found.units) for name, found in recorded.items()}
    rows = [
        [f"`{name}`", str(len(comparisons)), *_counts(comparisons)]
        for name, comparisons in compared.items()
        if comparisons
    ]
    columns = ["study", "printed numbers"]
    columns += [f"{reading}: {mark}" for reading in ("text", "scripts") for mark in MARKS]
    parts = []
    if rows:
        parts.append(Table("summary", "In short", [*columns, "fits neither nor another"], rows, left=1).markdown())
    simulated = [found.units for name, found in recorded.items() if name.startswith("sim-")]
    if simulated:
        parts.append(speed_table(simulated, STUDIES["sim-p2"].default_runs).markdown())
    return parts


def _counts(comparisons: Sequence[Comparison]) -> list[str]:
    text = [sum(c.text.mark == mark for c in comparisons) for mark in MARKS]
    scripts = [sum(c.scripts.mark == mark for c in comparisons) for mark in MARKS]
    return [str(count) for count in (*text, *scripts, sum(c.fits() in ("none", "no") for c in comparisons))]


def _section(study: Study, recorded: Recorded) -> str:
    """Return a study: how it was run, its figures, its tables."""
    parts = [f"## {study.title}", _how(study, recorded)]
    parts += [f"![{study.title}](images/{stem}.png)" for stem in study.figures(recorded.units)]
    parts += [table.markdown(level=3).rstrip() for table in study.tables(recorded.units)]
    return "\n\n".join(parts) + "\n"


def _how(study: Study, recorded: Recorded) -> str:
    """Return command, duration and versions."""
    versions = list(dict.fromkeys(versions_text(session) for session in recorded.sessions))
    failed = f" {len(recorded.failures)} units failed." if recorded.failures else ""
    took = f"{len(recorded.units)} units in {duration(wall_seconds(recorded.units))}"
    return f"`{_command(study, recorded)}`: {took}.{failed} {'; then '.join(versions)}."


def _command(study: Study, recorded: Recorded) -> str:
    """Return a command that makes these results."""
    words = ["dipolar-reproduce", "run", study.name]
    if study.default_runs:
        words += ["--runs", str(max((unit.replicate for unit in recorded.units), default=0) + 1)]
    words += _choice("--source", study.sources, {unit.source for unit in recorded.units})
    models = tuple(dict.fromkeys(model for source in study.sources for model in study.models_of(source)))
    words += _choice("--model", models, {unit.model for unit in recorded.units})
    jobs = max((session.get("jobs", 1) for session in recorded.sessions), default=1)
    return " ".join([*words, "--jobs", str(jobs)])


def _choice(option: str, known: Sequence[str], used: set[str]) -> list[str]:
    """Return the options that choose some of the known names, and nothing where all are used."""
    return [] if used == set(known) else [word for name in known if name in used for word in (option, name)]
