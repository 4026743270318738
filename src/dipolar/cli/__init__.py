"""The command line: `dipolar fit`, `predict`, `evaluate` and their companions."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; ends with its exit status."""
    try:
        from dipolar.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs the package {error.name}: pip install 'dipolar[cli]'")
    app()
