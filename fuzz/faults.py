"""What counts as a fault, and which errors are clear answers."""

from __future__ import annotations

import dis
import re
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

__all__ = ["Fault", "FaultError", "fault_of", "require", "strict_warnings"]

# Whose errors may reach a caller: ours, and those of scikit-learn's own checks of arguments.
OWN_FILES = re.compile(r"/(dipolar/.*|sklearn/utils/(_param_)?validation|sklearn/model_selection/_split)\.py$")
CLEAR_ERRORS = (ValueError, TypeError)

# Where a fault is looked for: what these call is not to blame.
OUR_FILES = re.compile(r"/(dipolar/.*|fuzz/(?!faults\b)\w+\.py)$")

# Lines of a traceback that are kept.
TAIL = 14


class FaultError(Exception):
    """An answer that cannot be right."""


@dataclass(frozen=True)
class Fault:
    """What went wrong in one case."""

    kind: str
    message: str
    where: str  # file and function of the innermost frame that is ours
    tail: str  # the end of the traceback


def require(holds: Any, what: str) -> None:
    """Raise a fault unless something holds of an answer."""
    if not holds:
        raise FaultError(what)


def fault_of(error: BaseException, words: Iterable[str]) -> Fault | None:
    """Return the fault that an exception is; None for a clear error about one of the arguments (`words`)."""
    kind = _kind(error, words)
    if kind is None:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    inner = next((frame for frame in reversed(frames) if OUR_FILES.search(frame.filename)), frames[-1])
    found = OUR_FILES.search(inner.filename)
    where = f"{found.group(1) if found else inner.filename}:{inner.name}"
    tail = "".join(traceback.format_exception(error)).splitlines()[-TAIL:]
    return Fault(kind, str(error)[:500], where, "\n".join(tail))


@contextmanager
def strict_warnings() -> Iterator[None]:
    """Turn into errors all warnings but those that the library documents, which are user warnings."""
    from sklearn.exceptions import FitFailedWarning  # takes a second, which a process that runs no cases need not wait

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        yield


def _kind(error: BaseException, words: Iterable[str]) -> str | None:
    if isinstance(error, FaultError):
        return "wrong answer"
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, Warning):
        return "numpy warning"
    # An AttributeError that is a ValueError as well is scikit-learn's for models that are not fitted.
    if not isinstance(error, CLEAR_ERRORS) or isinstance(error, AttributeError) or not _is_raised_by_us(error):
        return "traceback"
    known = set(re.findall(r"\w+", str(error)))
    return None if known & set(words) else "unnamed argument"


def _is_raised_by_us(error: BaseException) -> bool:
    """Whether the innermost frame is ours and at a `raise`: NumPy's own errors have no frame of theirs."""
    inner: TracebackType | None = error.__traceback__
    while inner is not None and inner.tb_next is not None:
        inner = inner.tb_next
    if inner is None:
        return False
    code = inner.tb_frame.f_code
    is_raise = dis.opname[code.co_code[inner.tb_lasti]] == "RAISE_VARARGS"
    return is_raise and OWN_FILES.search(code.co_filename) is not None
