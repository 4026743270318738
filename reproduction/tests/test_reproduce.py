"""`dipolar-reproduce`: what it writes, what it refuses, and that neither kill nor workers change a table."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import dipolar
from dipolar_reproduction import app as command
from dipolar_reproduction.app import app
from dipolar_reproduction.catalogue import STUDIES
from dipolar_reproduction.page import page_text, write_page
from dipolar_reproduction.simulated import SimulationStudy
from dipolar_reproduction.store import Store

ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "reproduction.md"

# Units of some hundredths of a second.
FEW = ("sim-p2", "--source", "planar-2", "--source", "ellipse-2", "--model", "univariate", "--model", "truth")
QUICK = (*FEW, "--no-figures")
RUNS, N_UNITS = ("--runs", 10), 40


def invoke(*args):
    result = CliRunner().invoke(app, [*map(str, args)], env={"COLUMNS": "130", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    return result


def reproduce(*args):
    return invoke("run", *args)


def refused(*args):
    result = CliRunner().invoke(app, [*map(str, args)])
    assert result.exit_code == 2, result.output
    assert result.stdout == "" and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr


def start(*args):
    return subprocess.Popen(
        [sys.executable, "-m", "dipolar_reproduction", "run", *map(str, args), "--quiet"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def read(path):
    with Store(path, must_exist=True) as store:
        return store.read()


def kill_after(process, path, size, seconds=300):
    """Kill a run once its file has grown to so many bytes; return whether it was still running."""
    end = time.monotonic() + seconds
    while (not path.exists() or path.stat().st_size < size) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    was_running = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return was_running


def without_seconds(path):
    drop = ("seconds", "wall", "session")
    return {unit: {k: v for k, v in record.items() if k not in drop} for unit, record in read(path).units.items()}


def copy(folder, target):
    (target / "sim-p2.sqlite").write_bytes((folder / "sim-p2.sqlite").read_bytes())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    reproduce(*FEW, *RUNS, "-o", folder)
    return folder


def test_killed_again_and_again_it_ends_with_the_same_tables(uninterrupted, tmp_path):
    results, before = tmp_path / "sim-p2.sqlite", {}
    # As long as a run lasts, the size of its file alone tells how far it is: here nine units, and 25.
    for n_bytes, jobs in ((28_000, 1), (36_000, 2)):
        process = start(*QUICK, *RUNS, "-o", tmp_path, "--resume", "--jobs", jobs)
        assert kill_after(process, results, n_bytes)
        recorded = read(results).units
        assert before.items() <= recorded.items() and len(before) < len(recorded) < N_UNITS
        before = recorded
    reproduce(*QUICK, *RUNS, "-o", tmp_path, "--resume")

    recorded = read(results)
    assert len(recorded.units) == N_UNITS and len(recorded.sessions) == 3
    assert before.items() <= recorded.units.items()  # none was run again
    assert without_seconds(results) == without_seconds(uninterrupted / "sim-p2.sqlite")
    for name in ("sim-p2.md", "sim-p2.csv"):
        assert (tmp_path / name).read_bytes() == (uninterrupted / name).read_bytes()


def test_a_second_run_is_refused_while_the_first_lasts_and_does_it_no_harm(uninterrupted, tmp_path):
    results = tmp_path / "sim-p2.sqlite"
    process = start(*QUICK, *RUNS, "-o", tmp_path)
    try:
        while not results.exists() or results.stat().st_size < 24_000:
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGSTOP)  # it must not end before the others were tried
        for option in ("--resume", "--force"):
            assert "another run is using it" in refused("run", *QUICK, *RUNS, "-o", tmp_path, option)
        assert "another run is using it" in refused("export", results)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["sim-p2.sqlite", "sim-p2.sqlite-journal"]
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert process.communicate(timeout=300) == (None, "") and process.returncode == 0
    assert without_seconds(results) == without_seconds(uninterrupted / "sim-p2.sqlite")


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGTERM, 2)])
def test_a_run_that_is_told_to_stop_ends_in_one_line_and_is_continued(uninterrupted, tmp_path, number, jobs):
    results = tmp_path / "sim-p2.sqlite"
    process = start(*QUICK, *RUNS, "-o", tmp_path, "--jobs", jobs)
    while not results.exists() or results.stat().st_size < 24_000:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    os.kill(process.pid, number)
    assert process.communicate(timeout=60)[1] == "error: interrupted.\n" and process.returncode == 128 + number
    assert 0 < len(read(results).units) < N_UNITS
    reproduce(*QUICK, *RUNS, "-o", tmp_path, "--resume")
    assert without_seconds(results) == without_seconds(uninterrupted / "sim-p2.sqlite")


def test_a_finished_study_is_not_run_again(uninterrupted, monkeypatch):
    before = read(uninterrupted / "sim-p2.sqlite")
    monkeypatch.setattr(SimulationStudy, "run", lambda *args: pytest.fail("a unit was run"))
    reproduce(*QUICK, *RUNS, "-o", uninterrupted, "--resume")
    assert read(uninterrupted / "sim-p2.sqlite") == before


def test_fewer_runs_of_a_longer_study_make_the_table_of_a_shorter_one(uninterrupted, tmp_path):
    copy(uninterrupted, tmp_path)
    reproduce(*QUICK, "--runs", 2, "-o", tmp_path, "--resume")
    frame = pd.read_csv(tmp_path / "sim-p2.csv")
    assert set(frame["n"]) == {2}


def test_the_tables_show_printed_and_ours(uninterrupted):
    frame = pd.read_csv(uninterrupted / "sim-p2.csv")
    assert set(frame["source"]) == {"planar-2", "ellipse-2"} and set(frame["n"]) == {10}
    unpruned = frame[(frame["source"] == "planar-2") & (frame["measure"] == "nodes")].iloc[0]
    assert unpruned["printed_mean"] == 47.58
    assert abs(unpruned["mean"] - 47.58) < 5.27 and unpruned["mark"] == "within 1 SD"
    text = (uninterrupted / "sim-p2.md").read_text()
    assert "| planar-2 | univariate | nodes | 47.58 (5.27) |" in text and "| planar-2 | true hazard |" in text
    assert "An effective price near 20 matches the printed size" in text
    assert "20 fits in" in (uninterrupted / "sim-p2-speed.md").read_text()
    assert (uninterrupted / "sim-p2-size.png").read_bytes()[:4] == b"\x89PNG"
    ET.parse(uninterrupted / "sim-p2-size.svg")


def test_the_results_say_with_what_they_were_made(uninterrupted):
    recorded = read(uninterrupted / "sim-p2.sqlite")
    assert recorded.header == json.loads(json.dumps(STUDIES["sim-p2"].header(0)))
    (session,) = recorded.sessions
    assert session["dipolar"] == dipolar.__version__ and session["jobs"] == 1 and "numpy" in session


def test_exported_results_are_read_back_and_continued(uninterrupted, tmp_path):
    copy(uninterrupted, tmp_path)
    exported, results = tmp_path / "sim-p2.jsonl.gz", tmp_path / "sim-p2.sqlite"
    invoke("export", results)
    assert "exists already" in refused("export", results)
    assert "exists already" in refused("import", exported)
    other = tmp_path / "other"
    other.mkdir()
    invoke("import", exported, "-o", other / "sim-p2.sqlite")
    assert read(other / "sim-p2.sqlite") == read(results)
    reproduce(*QUICK, "--runs", 11, "-o", other, "--resume")
    invoke("import", exported, "--force")
    assert len(read(results).units) == N_UNITS and len(read(other / "sim-p2.sqlite").units) == N_UNITS + 4
    plain = tmp_path / "sim-p2.jsonl"
    invoke("export", results, "-o", plain)
    assert plain.read_bytes() == gzip.decompress(exported.read_bytes())
    assert "does not exist" in refused("export", tmp_path / "no.sqlite")


def test_existing_output_is_refused_before_the_work(uninterrupted, tmp_path):
    message = refused("run", *QUICK, *RUNS, "-o", uninterrupted)
    assert "there are results already" in message and "--resume" in message and "--force" in message
    assert "Leave one of them out" in refused("run", *QUICK, "-o", uninterrupted, "--resume", "--force")
    (tmp_path / "sim-p2.csv").write_text("mine")
    assert "sim-p2.csv" in refused("run", *QUICK, "-o", tmp_path)
    assert (tmp_path / "sim-p2.csv").read_text() == "mine" and not (tmp_path / "sim-p2.sqlite").exists()
    assert "does not exist" in refused("run", *QUICK, "-o", tmp_path / "no" / "where")


def test_other_settings_and_versions_are_refused(uninterrupted, tmp_path):
    message = refused("run", *QUICK, *RUNS, "-o", uninterrupted, "--resume", "--seed", 5)
    assert "other settings" in message and "seed is 0 there and 5 now" in message
    copy(uninterrupted, tmp_path)
    with Store(tmp_path / "sim-p2.sqlite") as store:
        store.add_session({"dipolar": "0.0.1"})
    message = refused("run", *QUICK, "--runs", 11, "-o", tmp_path, "--resume")
    assert "made by dipolar 0.0.1" in message and "4 units are missing" in message
    reproduce(*QUICK, *RUNS, "-o", tmp_path, "--resume")  # nothing is missing: the tables may be made


def test_force_starts_anew_and_leaves_files_of_something_else_alone(uninterrupted, tmp_path):
    copy(uninterrupted, tmp_path)
    reproduce(*QUICK, "--runs", 1, "-o", tmp_path, "--force", "--seed", 3)
    recorded = read(tmp_path / "sim-p2.sqlite")
    assert len(recorded.units) == 4 and recorded.header["seed"] == 3
    (tmp_path / "sim-p2.sqlite").write_text("something else\n" * 20)
    assert "no file of results" in refused("run", *QUICK, "-o", tmp_path, "--force")
    assert (tmp_path / "sim-p2.sqlite").read_text() == "something else\n" * 20


def test_names_are_listed_and_suggested():
    listing = json.loads(invoke("list", "--json").stdout)["studies"]
    assert [study["name"] for study in listing] == list(STUDIES)
    assert "fig-kappa" in invoke("list").stdout
    assert "Did you mean 'sim-p" in refused("run", "sim-p3")
    assert "See dipolar-reproduce run --help" in refused("run", "sim-p2", "--replicates", "3")
    assert "has no source 'planar-9'" in refused("run", "sim-p2", "--source", "planar-9")
    assert "has no replicates" in refused("run", "fig-sigma", "--runs", 3)


def test_units_that_fail_are_told_at_the_end_and_tried_again(tmp_path, monkeypatch):
    run = SimulationStudy.run

    def sometimes(self, unit, seed):
        if unit.replicate == 1 and unit.model == "truth":
            raise ZeroDivisionError("by zero")
        return run(self, unit, seed)

    monkeypatch.setattr(SimulationStudy, "run", sometimes)
    result = CliRunner().invoke(app, ["run", *QUICK, "--runs", "2", "-o", str(tmp_path)])
    assert result.exit_code == 1
    assert "the unit planar-2 1 truth failed: ZeroDivisionError: by zero" in result.stderr
    assert "2 units failed" in result.stderr and (tmp_path / "sim-p2.md").exists()
    monkeypatch.setattr(SimulationStudy, "run", run)
    assert "failed" not in reproduce(*QUICK, "--runs", 2, "-o", tmp_path, "--resume").stderr


def test_an_interrupt_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_units", interrupted)
    result = CliRunner().invoke(app, ["run", *QUICK, "--runs", "2", "-o", str(tmp_path)])
    assert result.exit_code == 130
    assert "0 of 8 units" in result.stderr and "--resume" in result.stderr


def test_a_cluster_that_is_not_there(tmp_path):
    pytest.importorskip("distributed")
    assert "--scheduler" in refused("run", *QUICK, "-o", tmp_path, "--scheduler", "nonsense://nowhere")


# Every study once, as small as it gets.


def test_a_table_with_a_tuned_tree(tmp_path):
    reproduce("sim-p4", "--runs", 1, "--source", "planar-4", "--model", "linear", "-o", tmp_path, "--no-figures")
    (record,) = read(tmp_path / "sim-p4.sqlite").units.values()
    assert -4 <= record["eta"] <= 4 and record["seconds"]["tuning"] > record["seconds"]["growing"] > 0


def test_real_data(tmp_path):
    document = json.loads(
        reproduce("real", "--source", "addicts", "--model", "univariate", "-o", tmp_path, "--json").stdout
    )
    rows = document["tables"]["comparison"]["data"]
    assert [row[:4] for row in rows][2] == ["addicts", "univariate", "nodes", "27.4 (2.6)"]
    assert len(read(tmp_path / "real.sqlite").units) == 10


def test_remission_gives_the_printed_medians_and_the_cox_model(tmp_path):
    document = json.loads(
        reproduce("remission", "--source", "regions", "--source", "cox", "-o", tmp_path, "--json").stdout
    )
    medians = {(row[0], row[1]): row for row in document["tables"]["medians"]["data"] if row[2] != "-"}
    missed = [key for key, row in medians.items() if row[6] not in ("both", "fixed")]
    assert len(medians) == 17 and missed == [("quadratic", "rr")]  # that node is split once more, see the page
    assert [row[2] for row in document["tables"]["cox"]["data"]] == ["2.3549", "1.8028", "-0.3422"]


def test_remission_folds(tmp_path):
    reproduce("remission", "--source", "folds", "--runs", 2, "--model", "univariate", "-o", tmp_path)
    frame = pd.read_csv(tmp_path / "remission.csv")
    assert set(frame["measure"]) == {"ci", "ibs", "pruned_nodes"} and set(frame["n"]) == {2}
    assert frame["printed_sd"].isna().all() and frame["sds_away"].notna().all()


def test_figures(tmp_path, monkeypatch):
    monkeypatch.setattr("dipolar.plotting.surface_plot.STEPS", 50)
    reproduce("fig-sigma", "-o", tmp_path)
    reproduce("fig-remission", "-o", tmp_path)
    reproduce("fig-splits", "--runs", 1, "--source", "linear", "-o", tmp_path)
    for name in ("fig-sigma", "fig-remission", "fig-splits"):
        ET.parse(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert "140.67" in (tmp_path / "fig-sigma.md").read_text()


def test_the_figure_of_tuning(tmp_path, monkeypatch):
    monkeypatch.setattr("dipolar_reproduction.kappa.ETAS", (-6.0, -4.0, 0.0))
    reproduce("fig-kappa", "--model", "linear", "-o", tmp_path)
    frame = pd.read_csv(tmp_path / "fig-kappa.csv")
    assert list(frame["eta"]) == [-6, -4, 0] and frame["mean_test_concordance_paper"].between(0.5, 1).all()
    assert "| linear | -0.65 |" in (tmp_path / "fig-kappa.md").read_text()


# The page.


def test_the_page_is_made_from_exported_results_alone(uninterrupted, tmp_path):
    assert "no exported results" in refused("page", tmp_path, tmp_path / "page.md")
    invoke("export", uninterrupted / "sim-p2.sqlite", "-o", tmp_path / "sim-p2.jsonl.gz")
    write_page(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text == page_text(tmp_path)
    assert (
        "--source ellipse-2 --model univariate --model truth --jobs 1`: 40 units in" in text
        and f"dipolar {dipolar.__version__}" in text
    )
    assert "| `sim-p2` | 8 |" in text and "no results of `sim-p4`" in text
    assert "![Simulations with 2 covariates](images/sim-p2-size.png)" in text
    assert (tmp_path / "images" / "sim-p2-size.png").exists()


def test_the_page_of_the_documentation_belongs_to_the_results():
    text = PAGE.read_text(encoding="utf-8")
    assert "## Not run" not in text
    assert text == page_text(RESULTS), "run dipolar-reproduce page results docs/reproduction.md"
    for line in text.splitlines():
        if line.startswith("!["):
            assert (PAGE.parent / line.split("(")[1].rstrip(")")).exists()


def test_results_that_are_kept_can_be_continued(tmp_path):
    """Their settings are those of today, so that a unit more would be comparable."""
    for path in RESULTS.glob("*.jsonl.gz"):
        target = tmp_path / path.name.replace(".jsonl.gz", ".sqlite")
        invoke("import", path, "-o", target)
        with Store(target) as store:
            store.begin(STUDIES[target.stem].header(0), resume=True)
