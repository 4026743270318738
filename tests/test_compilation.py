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
    fitted = DipoleSVM(kernel="linear", kappa=0.1).fit(Z, y)
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


# Compiles a routine of its own and one that counts as the package's; prints whether the collector ran meanwhile.
COLLECTOR_PROBE = """
import gc
import numpy as np
from numba import njit
from numba.core import event
from numba.core.errors import TypingError
from dipolar._core import certificate

states = []
class Watch(event.Listener):
    def on_start(self, event): states.append(gc.isenabled())
    def on_end(self, event): pass

event.register("numba:compile", Watch())
njit(lambda x: x + 1)(1)
print(states)
states.clear()
certificate.middle_intercept(np.zeros(2), np.arange(2), np.ones(2), np.ones(2), 1.0)
print(states, gc.isenabled())
states.clear()
try:
    certificate.middle_intercept("no array", 1, 2, 3, 4)
except TypingError:
    print(states, gc.isenabled())
nameless = {}
exec("def f(x):\\n    return x + 1", nameless)  # its module is None
print(njit(nameless["f"])(1))
gc.disable()
certificate.middle_intercept(np.zeros(2, np.float32), np.arange(2), np.ones(2), np.ones(2), 1.0)
print(gc.isenabled())
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_collector_rests_only_while_routines_of_the_package_are_compiled(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", COLLECTOR_PROBE],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
        timeout=300,
    )
    other, ours, after_error, nameless, when_off = done.stdout.splitlines()
    assert set(other.strip("[]").split(", ")) == {"True"}
    for meanwhile_and_then in (ours, after_error):
        meanwhile, then = meanwhile_and_then.strip("[").split("] ")
        assert set(meanwhile.split(", ")) == {"False"}
        assert then == "True"
    assert nameless == "2"
    assert when_off == "False"
