"""The command line: `dipolar fit`, `predict`, `evaluate` and their companions."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress
from importlib import import_module

__all__ = ["main", "run_program"]

# The status of Ctrl-C; those of the other signals follow the same rule, 128 and the number of the signal.
INTERRUPTED = 128 + signal.SIGINT

# Ctrl-C, `kill` without further words, and a terminal that is closed: all end a command alike, with no litter.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_received: list[int] = []


def main() -> None:
    """Run the command line."""
    run_program("dipolar.cli.app")


def run_program(module: str) -> None:
    """Run the `app` of a module; ends with its exit status, and with one line when it is interrupted at any time."""
    for number in SIGNALS:
        _on_signal(number, _leave_at_once)
    warnings.showwarning = _show_in_one_line
    try:
        app = import_module(module).app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs the package {error.name}: pip install 'dipolar[cli]'")
    try:
        for number in SIGNALS:
            _on_signal(number, _interrupt)
        app()
    except KeyboardInterrupt:  # before the application could answer for itself
        _leave_at_once(status_of_interrupt() - 128)
    finally:
        _on_signal(signal.SIGINT, signal.SIG_IGN)  # all is said; what is left is to put away


def status_of_interrupt() -> int:
    """Return the exit status of a command that was interrupted."""
    return 128 + _received[0] if _received else INTERRUPTED


def _show_in_one_line(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning that no command has collected, without the place in the code that it comes from."""
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


def _on_signal(number: int, handler: object) -> None:
    """Choose what a signal does, unless whoever started the command wants it ignored, as `nohup` does."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, handler)  # type: ignore[arg-type]


def _interrupt(number: int, _: object) -> None:
    """End as after Ctrl-C: files and workers are taken care of on the way out."""
    _received.append(number)
    raise KeyboardInterrupt


def _leave_at_once(number: int, _: object = None) -> None:
    """End without a word from the modules that are being loaded: there is no file or worker to care for yet."""
    with suppress(OSError):  # the terminal may be gone
        os.write(sys.stderr.fileno(), b"error: interrupted.\n")
    os._exit(128 + number)
