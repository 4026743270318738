"""What is said where: answers on stdout, everything about them on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from dipolar.cli.messages import shortened
from dipolar.progress import telling

__all__ = ["Terminal", "collected_warnings", "say_error"]

LONGEST_LINE = 1000


def say_error(message: str) -> None:
    """Print one red line to stderr; of a very long one begin and end, which say what is wrong and what to do."""
    line = Text(f"error: {shortened(' '.join(message.split()), LONGEST_LINE)}", style="bold red")
    with contextlib.suppress(OSError):  # the terminal may be gone, and the status says the rest
        Console(stderr=True).print(line, soft_wrap=True)


class Terminal:
    """Where a command speaks; silent about all but its answer with `as_json`, and altogether with `quiet`."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.out = Console(quiet=quiet or as_json, highlight=False, emoji=False, markup=False)
        self.err = Console(stderr=True, quiet=quiet or as_json, highlight=False, emoji=False, markup=False)

    def answer(self, document: dict[str, Any]) -> None:
        """Print the document that machines read, where they asked for it."""
        if self.as_json:
            is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
            print(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=not is_unicode))

    def show(self, *what: Any) -> None:
        """Print parts of the answer for people."""
        for part in what:
            self.out.print(part)

    def say(self, sentence: str, style: str = "") -> None:
        """Print a sentence of the answer."""
        self.out.print(Text(sentence, style=style))

    def say_file(self, what: str, path: Path) -> None:
        """Print where something is, on a line that can be copied."""
        self.out.print(Text(f"{what} {path}"), soft_wrap=True)

    def notes(self, title: str, notes: list[str]) -> None:
        """Print what was done to the data, one line each."""
        if notes:
            self.say(title, "bold")
        for note in notes:
            self.out.print(Padding(Text(note), (0, 0, 0, 2), expand=False))

    def warn(self, message: str) -> None:
        """Print one yellow line to stderr."""
        self.err.print(Text(f"warning: {' '.join(message.split())}", style="yellow"), soft_wrap=True)

    @contextlib.contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Any]:
        """Show a bar on stderr while a long piece of work runs; yields a function that says `done, text`."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        hidden = self.err.quiet or not self.err.is_terminal
        with Progress(*columns, console=self.err, transient=True, disable=hidden) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done, total=total, text=what: bar.update(task, completed=done, total=total, description=text)

    @contextlib.contextmanager
    def progress_of_fit(self, what: str) -> Iterator[None]:
        """Show a bar that follows what the library tells of a fit."""
        with self.progress(what) as update, telling(lambda step: update(step.done, step.total, step.text)):
            yield


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the different warnings of the library as plain sentences."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    messages += dict.fromkeys(str(warning.message) for warning in caught)
