"""A study on a Dask cluster of processes gives the tables of a study here."""

import pytest
from typer.testing import CliRunner

from dipolar_reproduction.app import app
from dipolar_reproduction.store import Store

distributed = pytest.importorskip("distributed")

# The cluster's own goings-on (ports that are taken, workers that leave) are not ours to judge.
pytestmark = pytest.mark.filterwarnings("ignore")

PLAN = ["run", "sim-p2", "--runs", "3", "--source", "planar-2", "--model", "univariate", "--model", "truth"]


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as local:
        yield local


def test_a_study_on_a_cluster_equals_the_study_here(cluster, tmp_path):
    for name, where in (("here", []), ("there", ["--scheduler", cluster.scheduler_address])):
        result = CliRunner().invoke(app, [*PLAN, "--no-figures", "--output", str(tmp_path / name), *where])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "here" / "sim-p2.csv").read_bytes() == (tmp_path / "there" / "sim-p2.csv").read_bytes()
    with Store(tmp_path / "there" / "sim-p2.sqlite") as store:
        (session,) = store.read().sessions
    assert session["cluster"] and session["jobs"] == 2
