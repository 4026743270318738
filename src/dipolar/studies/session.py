"""What a run computes with: versions of everything that may change a number, and the processors."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from dipolar import __version__
from dipolar.studies.journal import Journal
from dipolar.studies.unit import StudyError

__all__ = ["describe_session", "refuse_other_version", "versions_text"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")


def describe_session(jobs: int, *, cluster: bool) -> dict[str, Any]:
    """Return the line of the results file that tells with what the following units are computed."""
    return {
        "dipolar": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "jobs": jobs,
        "cluster": cluster,
    }


def refuse_other_version(journal: Journal, pending: Sequence[Any]) -> None:
    """Refuse to mix units of another version of this package with new ones."""
    others = {str(session.get("dipolar")) for session in journal.recorded.sessions} - {__version__}
    if pending and others:
        raise StudyError(
            f"{journal.path} was made by dipolar {', '.join(sorted(others))}, and this is {__version__}: "
            f"{len(pending)} units are missing, and would not be comparable. Give another --output, or replace it "
            "with --force."
        )


def versions_text(session: Mapping[str, Any]) -> str:
    """Return the versions of a session in one line."""
    names = ("dipolar", "python", *PACKAGES)
    told = ", ".join(f"{name} {session[name]}" for name in names if name in session)
    return f"{told}; {session.get('jobs')} at a time on {session.get('cores')} cores, {session.get('processor')}"
