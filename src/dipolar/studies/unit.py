"""One unit of work: a model on one sample of one source of rows, independent of all other units."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

__all__ = ["StudyError", "Unit", "seed_of"]

# Seeds of this many bytes survive in every reader of JSON, which may keep 53 bits of a number.
SEED_BYTES = 6


class StudyError(ValueError):
    """A study that cannot be run or continued; the message says what to do about it."""


@dataclass(frozen=True, order=True)
class Unit:
    """What is done in one go and written as one line of results."""

    source: str  # a design, a data set, a panel of a figure
    replicate: int  # number of the sample, of the fold or of the shuffle
    model: str  # one of the trees, or the truth

    @property
    def kind(self) -> tuple[str, str]:
        """Units of one kind take about equally long."""
        return self.source, self.model

    def __str__(self) -> str:
        return f"{self.source} {self.replicate} {self.model}"


def seed_of(source: str, replicate: int, base: int = 0) -> int:
    """Return the seed of a sample: one number for all models, so that they see the same rows.

    It depends on names and numbers alone, neither on the order of the work nor on what else is run.
    """
    digest = blake2b(f"{base}/{source}/{replicate}".encode(), digest_size=SEED_BYTES).digest()
    return int.from_bytes(digest, "big")
