"""One case of one target, run to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from fuzz.draw import Draw
from fuzz.faults import Fault, fault_of, strict_warnings

__all__ = ["ANSWERED", "CLEAR_ERROR", "Ending", "all_targets", "run_case", "target_of"]

# Modules whose targets take part, as far as they are there.
MODULES = ("models", "scores", "files", "encoders", "commands")

ANSWERED, CLEAR_ERROR = "answered", "clear error"


@dataclass(frozen=True)
class Ending:
    """How one case ended: answered, a clear error, or the kind of its fault."""

    case: int
    target: str
    end: str
    seconds: float  # of computing; of the clock where a process died
    fault: Fault | None = None
    drawn: dict[str, str] = field(default_factory=dict)  # of faults only

    def plain(self) -> dict[str, Any]:
        """Return JSON types, without what is not there."""
        return {name: value for name, value in asdict(self).items() if value}


@cache
def all_targets() -> dict[str, Callable[[Draw], None]]:
    """Return the targets by name."""
    return {name: target for module in _modules() for name, target in module.TARGETS.items()}


def target_of(case: int, targets: tuple[str, ...]) -> str:
    """Return whose turn a case is: targets take turns."""
    return targets[case % len(targets)]


def run_case(seed: int, case: int, name: str) -> Ending:
    """Run one case; what it draws depends on the seed, its number and its target."""
    numbers = seed, case, crc32(name.encode())
    draw = Draw(np.random.default_rng(numbers))
    np.random.seed(crc32(repr(numbers).encode()))  # noqa: NPY002 - what random_state=None draws from
    start = time.process_time()
    try:
        with strict_warnings():
            all_targets()[name](draw)
    except Exception as error:
        fault = fault_of(error, _words()[name])
        end = CLEAR_ERROR if fault is None else fault.kind
        return Ending(case, name, end, time.process_time() - start, fault, draw.record if fault else {})
    return Ending(case, name, ANSWERED, time.process_time() - start)


@cache
def _words() -> dict[str, frozenset[str]]:
    """The words that errors of each target may be about."""
    return {name: frozenset(module.WORDS) for module in _modules() for name in module.TARGETS}


def _modules() -> list[ModuleType]:
    return [import_module(f"fuzz.{name}") for name in MODULES if find_spec(f"fuzz.{name}")]
