"""`dipolar warm-up`: everything compiled ahead."""

from __future__ import annotations

from dipolar.cli import options
from dipolar.cli.messages import UserError
from dipolar.cli.terminal import Terminal, collected_warnings

__all__ = ["warm_up"]

NOT_KEPT = (
    "no folder in which compiled routines can be kept, or NUMBA_DISABLE_JIT is set. Set NUMBA_CACHE_DIR to a folder "
    "that can be written."
)


def warm_up(as_json: options.AsJson = False, quiet: options.Quiet = False) -> None:
    """Compile all routines now, so that later commands and fits start at once.

    For images, and for workers before they get work. What has been compiled before is not compiled again.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)

    # Loaded here, so that --help is answered at once.
    from dipolar._core.compiling import cache_folder
    from dipolar.warming import warm_up as compile_all

    if cache_folder() is None:
        raise UserError(NOT_KEPT)
    with terminal.progress("compiling"), collected_warnings():
        result = compile_all()
    if result.folder is None:
        raise UserError(NOT_KEPT)
    terminal.answer({"command": "warm-up", "seconds": round(result.seconds, 3), "folder": str(result.folder)})
    terminal.say_file(f"All routines are compiled, in {result.seconds:.1f} seconds, and kept in", result.folder)
