"""The command line: `dipolar fit`, `predict`, `evaluate` and their companions."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

__all__ = ["main", "run_program"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    run_program("dipolar.cli.app")


def run_program(module: str) -> None:
    """Run the `app` of a module; ends with its exit status, and with one line when it is interrupted at any time."""
    _on_interrupt(_leave_at_once)
    try:
        app = import_module(module).app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs the package {error.name}: pip install 'dipolar[cli]'")
    try:
        _on_interrupt(signal.default_int_handler)
        app()
    except KeyboardInterrupt:  # before the application could answer for itself
        _leave_at_once()
    finally:
        _on_interrupt(signal.SIG_IGN)  # all is said; what is left is to put away


def _on_interrupt(handler: object) -> None:
    """Choose what Ctrl-C does, unless whoever started the command wants it ignored, as `nohup` does."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


def _leave_at_once(*_: object) -> None:
    """End without a word from the modules that are being loaded: there is no file or worker to care for yet."""
    os.write(sys.stderr.fileno(), b"error: interrupted.\n")
    os._exit(INTERRUPTED)
