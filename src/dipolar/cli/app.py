"""The application: its commands, and how each of them may end."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from dipolar import __version__
from dipolar.cli import INTERRUPTED, status_of_interrupt
from dipolar.cli.commands.datasets import datasets
from dipolar.cli.commands.evaluate import evaluate
from dipolar.cli.commands.fit import fit
from dipolar.cli.commands.plot import plot
from dipolar.cli.commands.predict import predict
from dipolar.cli.commands.report import report
from dipolar.cli.commands.simulate import simulate
from dipolar.cli.commands.warm_up import warm_up
from dipolar.cli.messages import UserError, reason_of
from dipolar.cli.terminal import say_error

__all__ = ["app", "make_app"]

BAD_INPUT, OUR_FAULT = 2, 70

# Typer's own refusals, of a class that it does not export.
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]


class OneLineErrors(TyperGroup):
    """Ends every command with an exit status, and every failed one with a single line on stderr."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        _print_whatever_comes()
        try:
            status = super().main(args, self.name, complete_var, False, windows_expand_args, **extra)
            if sys.stdout is not None:
                sys.stdout.flush()
        except UserError as error:
            status = _refuse(str(error))
        except USAGE_ERROR as error:
            status = _refuse(_usage(error))
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        except OSError as error:  # of files, each command tells itself; this is the terminal, or a full disk behind it
            status = _refuse(f"{error.filename or 'the answer cannot be written'}: {reason_of(error)}.")
            _abandon_stdout()
        except MemoryError:
            status = _refuse("there is not enough memory for this. Give fewer rows or columns, or fewer --jobs.")
        except Exception as error:
            if os.environ.get("DIPOLAR_DEBUG"):
                raise
            say_error(f"{type(error).__name__}: {error}. This is a fault of {self.name}; DIPOLAR_DEBUG=1 shows where.")
            status = OUR_FAULT
        if status == INTERRUPTED:
            status = status_of_interrupt()
            say_error("interrupted.")
        sys.exit(status if isinstance(status, int) else 0)


def _print_whatever_comes() -> None:
    """Have what a stream cannot encode written with a backslash: names of files may be any bytes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _abandon_stdout() -> None:
    """Send what is left of the answer nowhere, so that Python does not complain at its end."""
    with suppress(OSError, ValueError, AttributeError):  # a stream without a descriptor has nothing left
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(message: str) -> int:
    say_error(message)
    return BAD_INPUT


def _usage(error: Any) -> str:
    """Return what is wrong with a command, and where its options are described."""
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    where = error.ctx.command_path if error.ctx else "dipolar"
    return f"{message}. See {where} --help."


def make_app(name: str) -> typer.Typer:
    """Return an application without commands."""
    return typer.Typer(
        name=name,
        cls=OneLineErrors,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = make_app("dipolar")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dipolar {__version__}")
        raise typer.Exit()


@app.callback()
def dipolar(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Survival trees whose nodes are split by kernel support vector machines.

    Start with `dipolar fit whas500`, or with a CSV file of your own.
    """


for command in (fit, predict, evaluate, report, plot, datasets, simulate, warm_up):
    app.command()(command)
