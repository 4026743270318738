"""The cases that were run, as JSON lines that are only ever appended to.

    {"seed": 0, "targets": [...]}                                              the first line
    {"session": {"commit": ..., "numpy": ...}}                                 one for each run
    {"case": 17, "target": "svm", "end": "answered", "seconds": 0.02}          one for each case; faults say more

What follows the last line break was cut off by an interruption, and is removed before anything is appended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.cases import Ending

__all__ = ["Journal"]


class Journal:
    """A file of endings.

    Parameters
    ----------
    path : Path
        Where the file is, or is to be.
    seed, targets : int, tuple of str
        What decides what each case is: a file that was begun with others cannot be continued.
    """

    def __init__(self, path: Path, seed: int, targets: tuple[str, ...]) -> None:
        self.path = path
        head = {"seed": seed, "targets": list(targets)}
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        content = path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if not complete:
            complete = f"{json.dumps(head)}\n".encode()
        if complete != content:
            path.write_bytes(complete)
        found = json.loads(complete.split(b"\n", 1)[0])
        if found != head:
            raise ValueError(
                f"{path} was begun with {found}, and cannot be continued with {head}. Give another --journal."
            )

    def entries(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the lines that have an entry of some name."""
        with open(self.path, encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                if name in entry:
                    yield entry

    def append(self, entry: dict[str, Any]) -> None:
        """Add one line."""
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(f"{json.dumps(entry)}\n")

    def append_ending(self, ending: Ending) -> None:
        """Add how a case ended."""
        self.append(ending.plain() | {"case": ending.case, "seconds": round(ending.seconds, 4)})
