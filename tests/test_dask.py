"""The same work on a Dask cluster of processes: the same result, and a worker that dies costs its tasks only."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from dipolar import DipoleSurvivalForest, DipoleSurvivalTree, LogRankSurvivalForest, SurvivalTreeCV
from dipolar.datasets import load_whas500
from tests.models import paper_tree

distributed = pytest.importorskip("distributed")

# The cluster's own goings-on (ports that are taken, workers that leave) are not ours to judge.
pytestmark = pytest.mark.filterwarnings("ignore")

GRID = {"svm__kernel": ["linear", "quadratic"], "svm__kappa": [1.0, 10.0, 100.0]}
SEARCH = SurvivalTreeCV(DipoleSurvivalTree(min_samples_leaf=10, pruning="fixed"), param_grid=GRID, random_state=0)


@pytest.fixture(scope="module")
def data():
    return load_whas500(return_X_y=True)


@pytest.fixture
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as local,
        distributed.Client(local),
    ):
        yield local


def table(search):
    return search.cv_results_.drop(columns="mean_fit_time")


def test_tuning_on_a_cluster_equals_tuning_here(cluster, data):
    with joblib.parallel_config(backend="dask"):
        remote = clone(SEARCH).fit(*data)
    local = clone(SEARCH).fit(*data)
    assert table(remote).equals(table(local))
    np.testing.assert_array_equal(remote.predict(data[0]), local.predict(data[0]))


def test_bootstrap_pruning_on_a_cluster_equals_pruning_here(cluster, data):
    tree = paper_tree(
        kernel="linear", standardize=True, max_depth=3, pruning="bootstrap", n_bootstraps=6, random_state=0
    )
    with joblib.parallel_config(backend="dask"):
        remote = clone(tree).fit(*data)
    local = clone(tree).fit(*data)
    assert remote.node_frame().equals(local.node_frame())
    np.testing.assert_array_equal(remote.pruning_path_.honest_statistics, local.pruning_path_.honest_statistics)


@pytest.mark.parametrize("forest", [LogRankSurvivalForest, DipoleSurvivalForest])
def test_a_forest_on_a_cluster_equals_one_grown_here(cluster, data, forest, monkeypatch):
    client, sent = distributed.default_client(), []
    scatter = client.scatter

    def count(arrays, **options):
        sent.append(arrays)
        return scatter(arrays, **options)

    monkeypatch.setattr(client, "scatter", count)
    # The one here comes first, so that workers load the code that it compiled instead of compiling it at the same time.
    local = forest(n_estimators=40, random_state=0).fit(*data)
    with joblib.parallel_config(backend="dask"):
        remote = forest(n_estimators=40, random_state=0).fit(*data)
    assert remote.forest_ == local.forest_
    np.testing.assert_array_equal(remote.predict(data[0]), local.predict(data[0]))
    # Each of the arrays that all trees share goes to the cluster once, not with every task.
    assert 3 <= len(sent) <= 6 and len({id(array) for array in sent}) == len(sent)


def test_a_forest_chooses_on_a_cluster_as_here(cluster, data):
    forest = LogRankSurvivalForest(n_estimators=10, tune={"min_samples_leaf": [5, 30]}, random_state=0)
    local = clone(forest).fit(*data)
    with joblib.parallel_config(backend="dask"):
        remote = clone(forest).fit(*data)
    assert remote.best_params_ == local.best_params_ and remote.forest_ == local.forest_


def test_a_worker_that_is_killed_costs_its_tasks_not_the_result(cluster, data):
    victim = next(iter(cluster.workers.values())).pid
    done, many = [], GRID | {"svm__kappa": np.exp(np.arange(-2.0, 8.0, 0.5))}

    def kill_soon():
        time.sleep(1.0)
        done.append(victim)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_soon)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        remote = clone(SEARCH).set_params(param_grid=many).fit(*data)
    killer.join()
    assert done == [victim]
    local = clone(SEARCH).set_params(param_grid=many).fit(*data)
    assert table(remote).equals(table(local))
