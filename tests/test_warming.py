"""Routines that are compiled ahead: what they cover, and where they are kept."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")

# Fits, predicts and scores, on other rows and with other settings than the warm-up, and prints what had to be compiled.
USE_ALL = """
import sys, warnings
import numpy as np
from numba.core.dispatcher import Dispatcher
warnings.simplefilter("ignore")
from dipolar import *
from dipolar.datasets import load_remission
from dipolar.metrics import SCORER_NAMES, get_scorer, logrank_test

X, y = load_remission(return_X_y=True)
missing = X.where(np.arange(X.size).reshape(X.shape) % 7 > 0)
weight = np.arange(len(X)) % 3 + 1.0
kernels = ("linear", "quadratic", "rbf")
models = [LogRankSurvivalTree(criterion=name) for name in ("logrank", "gehan", "exponential", "fleming-harrington")]
models += [LogRankSurvivalForest(2, criterion=name) for name in ("logrank", "exponential")]
settings = [{"init": "hazard", "cut": "svm"}, {"init": "quartile", "cut": "logrank"}]
svms = [DipoleSVM(kernel, **setting) for kernel in (*kernels, "laplacian") for setting in settings]
for scope in ("node", "root"):
    models += [DipoleSurvivalTree(svm, max_depth=2, min_samples_leaf=3, dipole_scope=scope) for svm in svms]
models += [DipoleSurvivalForest(svm, 2) for svm in (*svms, svms[:6])]
models += [SurvivalTreeCV(tree, cv=2) for tree in (None, LogRankSurvivalTree())]
for model in models:
    for covariates in (X, X.to_numpy(), X.to_numpy(np.float32), *([missing] if "LogRank" in str(model) else [])):
        fitted = model.fit(covariates, y, weight)
        fitted.predict(covariates)
        fitted.predict_cumulative_hazard_function(covariates)
        fitted.predict_survival_function(covariates, times=[1.0, 5.0])
        fitted.predict_median(covariates)
        fitted.predict_rmst(covariates)
for name in SCORER_NAMES:
    get_scorer(name)(models[0].fit(X, y), X, y)
for kernel in (*kernels, "polynomial"):
    DipoleSVM(kernel, kappa=0.5, kappa_scale="sum").fit(X, y, weight).predict(X)
logrank_test(y, X["TR"].to_numpy())

routines = {
    f"{name}.{attribute}": value
    for name, module in list(sys.modules.items()) if name.startswith("dipolar._core.")
    for attribute, value in vars(module).items() if isinstance(value, Dispatcher)
}
print({name: sum(routine.stats.cache_misses.values()) for name, routine in routines.items()})
"""

# A folder for compiled routines that can be read only: numba asks this before it takes one.
READ_ONLY = """
from numba.core import caching
def refuse(self):
    raise PermissionError(13, "Permission denied")
caching._CacheLocator.ensure_cache_path = refuse
"""


def run(cache, *command):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder of compiled routines, and what the command said that filled it."""
    cache = tmp_path_factory.mktemp("cache")
    done = run(cache, "-m", "dipolar", "warm-up", "--json")
    assert done.returncode == 0 and done.stderr == ""
    return cache, json.loads(done.stdout)


def test_the_command_says_how_long_it_took_and_where_the_routines_are(warm):
    cache, said = warm
    assert said["command"] == "warm-up" and said["seconds"] > 0
    assert said["folder"].startswith(str(cache)) and os.listdir(said["folder"])
    again = run(cache, "-m", "dipolar", "warm-up")
    assert again.returncode == 0 and "compiled, in" in again.stdout and again.stderr == ""


@pytest.mark.parametrize("before", ["", READ_ONLY], ids=["writable", "read-only"])
def test_after_a_warm_up_nothing_is_compiled(warm, before):
    done = run(warm[0], "-c", before + USE_ALL)
    misses = eval(done.stdout)
    assert len(misses) > 30 and not any(misses.values()) and done.stderr == ""


SCORE = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from dipolar.metrics import concordance_index
    print(concordance_index([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
print([w.category.__name__ for w in caught])
"""


def test_what_a_read_only_folder_lacks_is_compiled_and_said_once(warm, tmp_path):
    partial = tmp_path / "partial"
    shutil.copytree(warm[0], partial)
    for path in partial.rglob("concordance.count_pairs-*"):
        path.unlink()
    done = run(partial, "-c", READ_ONLY + SCORE)
    assert done.stdout.splitlines() == ["1.0", "['NoCacheWarning']"], done.stderr


def test_a_disk_that_is_full_is_no_reason_to_stop(tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    done = run(tmp_path, "-c", full + SCORE)
    assert done.stdout.splitlines() == ["1.0", "['NoCacheWarning']"], done.stderr


NO_FOLDER = """
import sys
from numba.core import caching
caching.FunctionCache._impl_class._locator_classes = []
from dipolar.cli import main
sys.argv[0] = "dipolar"
main()
"""


def test_a_warm_up_that_cannot_be_kept_is_refused(tmp_path):
    done = run(tmp_path, "-c", NO_FOLDER, "warm-up")
    assert done.returncode == 2 and done.stdout == ""
    warning, error = done.stderr.splitlines()
    assert warning.startswith("warning: dipolar finds no folder") and "NUMBA_CACHE_DIR" in error
