"""The walk through the terminal of docs/cli.md: its files, its commands, its output.

`python tests/test_cli_walk.py FOLDER` writes the two files of the walk; `... FOLDER --update` also runs the commands
and puts their output into the page.
"""

import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dipolar.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"(```console\n\$ dipolar (?P<command>[^\n]*)\n)(?P<output>.*?)(```)", re.DOTALL)

STAGES = ("I", "II", "III", "IV")


def draw_patients(n, seed):
    """Patients whose hazard rises with age, stage and creatinine."""
    rng = np.random.default_rng(seed)
    age = rng.normal(64, 11, n).round().astype(int)
    stage = rng.choice(4, n, p=[0.3, 0.3, 0.25, 0.15])
    creatinine = np.exp(rng.normal(0, 0.35, n)).round(2)
    hazard = np.exp(0.06 * (age - 64) + 0.7 * (stage - 1) + 0.8 * (creatinine - 1)) / 900
    death, censoring = rng.exponential(1 / hazard), rng.uniform(200, 2500, n)
    return {
        "patient_id": [f"ZH-{number:04d}" for number in rng.choice(9999, n, replace=False)],
        "admitted": (np.datetime64("2015-01-01") + rng.integers(0, 2000, n)).astype(object),
        "age": age,
        "sex": rng.choice(["female", "male"], n, p=[0.45, 0.55]),
        "stage": np.array(STAGES)[stage],
        "creatinine": creatinine,
        "smoker": rng.choice(["yes", "no", "ex"], n, p=[0.3, 0.5, 0.2]),
        "canton": np.full(n, "Zürich"),
        "days": np.ceil(np.minimum(death, censoring)).astype(int),
        "status": np.where(death <= censoring, 2, 1),
    }


def as_cell(value):
    """Numbers with a decimal comma, dates as in Switzerland."""
    if hasattr(value, "strftime"):
        return value.strftime("%d.%m.%Y")
    return str(value).replace(".", ",") if isinstance(value, float) else str(value)


def write_csv(path, patients, columns, gaps, seed):
    """Write a file as an office program does: semicolons, decimal commas, Latin-1, some cells left empty."""
    rng = np.random.default_rng(seed)
    n = len(patients["age"])
    cells = {name: [as_cell(value) for value in np.asarray(patients[name]).tolist()] for name in columns}
    for name, n_gaps in gaps.items():
        for row in rng.choice(n, n_gaps, replace=False):
            cells[name][row] = ""
    lines = [";".join(columns), *(";".join(row) for row in zip(*cells.values()))]
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("latin-1"))


def write_files(folder):
    """Write the two files of the walk: patients with known outcomes, and some whose outcome is to be predicted."""
    patients = draw_patients(220, seed=1)
    write_csv(folder / "clinic.csv", patients, list(patients), {"creatinine": 14, "sex": 3, "age": 2, "status": 2}, 2)
    new = draw_patients(6, seed=3)
    new["stage"] = [*new["stage"][:-1], "V"]
    new["bed"] = [f"{number}A" for number in range(6)]
    columns = ["patient_id", "stage", "bed", "smoker", "sex", "creatinine", "age"]
    write_csv(folder / "new.csv", new, columns, {"creatinine": 1}, 4)


def run(command, folder):
    """Run a command of the page in a folder; return what a screen of 80 columns shows."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "80", "NO_COLOR": "1"})
    finally:
        os.chdir(here)
    return result.exit_code, "".join(f"{line.rstrip()}\n" for line in result.output.splitlines())


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    write_files(folder)
    page = PAGE.read_text(encoding="utf-8")
    return folder, [
        (block["command"], block["output"], *run(block["command"], folder)) for block in BLOCK.finditer(page)
    ]


def test_the_page_shows_what_the_terminal_shows(walk):
    _, blocks = walk
    commands = [command.split()[0] for command, *_ in blocks]
    assert {"fit", "predict", "evaluate", "report", "plot"} <= set(commands)
    for command, shown, _, output in blocks:
        assert output == shown, f"dipolar {command}"


def test_the_walk_ends_well_and_leaves_its_files(walk):
    folder, blocks = walk
    assert [status for _, _, status, output in blocks if not output.startswith("error:")] == [0] * (len(blocks) - 1)
    made = {path.name for path in folder.iterdir()}
    models = {f"{name}.{suffix}" for name in ("clinic", "forest") for suffix in ("dipolar", "html", "svg")}
    assert made == {"clinic.csv", "new.csv", "predictions.csv", *models}
    assert all((folder / name).stat().st_size > 0 for name in made)


def update_page(folder):
    """Put the output of today into the page."""
    page = PAGE.read_text(encoding="utf-8")
    page = BLOCK.sub(lambda block: f"{block[1]}{run(block['command'], folder)[1]}{block[4]}", page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write_files(target)
    if "--update" in sys.argv:
        update_page(target)
