"""The same bits, whatever a process has compiled or loaded before."""

import os
import subprocess
import sys

import pytest

# Fits each model named on the command line, in that order, and prints a digest of every number in it.
PROBE = """
import hashlib, sys
import numpy as np
from dipolar import DipoleSVM, DipoleSurvivalForest
from dipolar.datasets import load_whas500

X, y = load_whas500(return_X_y=True)
Z = np.ascontiguousarray((X - X.mean()) / X.std())

def svm():
    fitted = DipoleSVM(kappa=0.1).fit(Z, y)
    return fitted.dual_coef_, fitted.intercept_, fitted.criterion_path_

def forest():
    return DipoleSurvivalForest(n_estimators=3, random_state=0, n_jobs=1).fit(Z, y).forest_.to_arrays().values()

for name in sys.argv[1:]:
    digest = hashlib.sha256()
    for values in globals()[name]():
        digest.update(np.ascontiguousarray(values).tobytes())
    print(name, digest.hexdigest())
"""


def run_probe(cache, *names):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *names], capture_output=True, check=True, text=True, env=environment, timeout=300
    )
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_results_do_not_depend_on_what_was_compiled_or_loaded_first(tmp_path):
    compiled = run_probe(tmp_path / "numba", "svm", "forest")
    assert set(compiled) == {"svm", "forest"}
    assert run_probe(tmp_path / "numba", "forest", "svm") == compiled  # loaded, in the other order
    assert run_probe(tmp_path / "numba", "forest") == {"forest": compiled["forest"]}


# Fits where no folder for compiled routines is to be had; numba asks these classes for one.
NO_CACHE_PROBE = """
import warnings
import numpy as np
from numba.core import caching
(getattr(caching, "CacheImpl", None) or caching._CacheImpl)._locator_classes = []
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from dipolar import DipoleSVM, LogRankSurvivalTree
    from dipolar.metrics import concordance_index
    times = np.arange(1.0, 31.0)
    print(DipoleSVM().fit(times[:, None], times).status_)
print([w.category.__name__ for w in caught])
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_without_a_folder_for_the_cache_everything_works_and_one_warning_says_so():
    done = subprocess.run(
        [sys.executable, "-c", NO_CACHE_PROBE], capture_output=True, check=True, text=True, timeout=300
    )
    assert done.stdout.splitlines() == ["settled", "['NoCacheWarning']"]


def test_importing_the_package_leaves_the_garbage_collector_and_numba_alone():
    loaded = "import gc; from numba.core import event; import dipolar.model_selection"
    probe = f"{loaded}; print(gc.isenabled(), sum(map(len, event._registered.values())))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True, timeout=300)
    assert done.stdout.split() == ["True", "0"]
