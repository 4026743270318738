"""Node.js, which runs the part of the report's script that computes."""

import os
import shutil
import subprocess

import pytest

NODE = shutil.which("node") or shutil.which("nodejs")


def run_node(*arguments, cwd=None, env=None):
    """Return what a run of Node prints; a test that needs it is skipped where there is none, and fails in CI."""
    if NODE is None:
        if os.environ.get("CI") == "true":
            pytest.fail("node is needed: apt-get install nodejs")
        pytest.skip("needs node")
    environment = {**os.environ, "NO_COLOR": "1", **(env or {})}
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, cwd=cwd, env=environment, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
