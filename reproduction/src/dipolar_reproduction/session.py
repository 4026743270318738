"""What a run computes with: versions of everything that may change a number, and the processors."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from dipolar import __version__
from dipolar.cli.messages import UserError
from dipolar_reproduction.store import Recorded

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")


def describe_session(jobs: int, *, cluster: bool) -> dict[str, Any]:
    """Return with what units are computed from now on."""
    return {
        "dipolar": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "jobs": jobs,
        "cluster": cluster,
    }


def refuse_other_version(recorded: Recorded, n_pending: int) -> None:
    """Refuse to mix units of another version of the library with new ones."""
    others = {str(session.get("dipolar")) for session in recorded.sessions} - {__version__}
    if n_pending and others:
        raise UserError(
            f"the results were made by dipolar {', '.join(sorted(others))}, and this is {__version__}: {n_pending} "
            "units are missing, and would not be comparable. Give another --output, or replace them with --force."
        )


def versions_text(session: Mapping[str, Any]) -> str:
    """Return the versions of a session in one line."""
    names = ("dipolar", "python", *PACKAGES)
    told = ", ".join(f"{name} {session[name]}" for name in names if name in session)
    return f"{told}; {session.get('jobs')} at a time on {session.get('cores')} cores, {session.get('processor')}"
