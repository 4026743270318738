"""Random choices of one case, and the record of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Draw", "shown"]

# Cases that use nothing but ordinary data and parameters: here answers are compared most strictly.
TAME_SHARE = 0.3

# The longest text that is kept of a drawn value.
SHOWN = 120


class Draw:
    """The random choices of one case.

    Parameters
    ----------
    rng : Generator
        Seeded by the number of the case and nothing else.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.is_tame = self.chance(TAME_SHARE)
        self.record: dict[str, str] = {"tame": str(self.is_tame)}

    def chance(self, share: float) -> bool:
        """Return True in a share of the cases."""
        return bool(self.rng.random() < share)

    def one_of(self, options: Sequence[Any]) -> Any:
        """Return one of some values, whatever their types."""
        return options[int(self.rng.integers(len(options)))]

    def some_of(self, options: Sequence[Any], most: int) -> list[Any]:
        """Return one to `most` different values."""
        count = int(self.rng.integers(1, min(most, len(options)) + 1))
        return [options[i] for i in self.rng.permutation(len(options))[:count]]

    def ordinary_or_wild(self, ordinary: Sequence[Any], wild: Sequence[Any], share: float = 0.4) -> Any:
        """Return an ordinary value, or, unless the case is tame, an extreme one in a share of the cases."""
        return self.one_of(wild if wild and not self.is_tame and self.chance(share) else ordinary)

    def note(self, name: str, value: Any) -> Any:
        """Record a value under a name, and return it."""
        self.record[name] = shown(value)
        return value


def shown(value: Any) -> str:
    """Return a short text for a value."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
