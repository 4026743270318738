"""Which pairs of rows should part and which should stay together.

Words and letters
-----------------
===================  ==========  ==================================================================
code                 paper       meaning
===================  ==========  ==================================================================
`pure_quantile`      zeta1       pure pairs are closer in time than this quantile of the gaps
`mixed_quantile`     zeta2       mixed pairs are at least this quantile of the gaps apart
`upward`             beta+       weight with which a row wants a score above the margin
`downward`           beta-       weight with which a row wants a score below minus the margin
===================  ==========  ==================================================================

A pair is *comparable* when its smaller time is an event. It is *pure* when both are events and the gap is
below the pure cut-off, *mixed* when it is comparable and the gap reaches the mixed cut-off. Gaps that are
equal up to rounding are equal, so that the unit of time does not matter. Nothing here
lists pairs: cut-offs take O(n) memory and O(n log n) time, and so does an orientation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar._core.dipoles import find_cutoffs as _find_cutoffs
from dipolar._core.dipoles import gap_bounds
from dipolar.survival import Survival

__all__ = ["CUTOFF_RULES", "Cutoffs", "find_cutoffs"]

# "text": the cut-off is order statistic number floor(quantile * number of pairs), pure is `gap < cut-off`, an event is
# comparable with a censoring at the same time, and ties of scores are read with >=. "scripts": the cut-off is the
# interpolated quantile (R's type 7), pure is `gap <= cut-off`, an event is not comparable with a censoring at the same
# time, and ties of scores are read with >. A gap that meets both conditions makes a mixed pair.
CUTOFF_RULES = ("text", "scripts")


@dataclass(frozen=True)
class Cutoffs:
    """Time gaps that bound pure and mixed dipoles; NaN where no pair is comparable."""

    pure: float
    mixed: float
    largest_time: float  # of the rows that they were found on: gaps are known to a fraction of it

    def bounds(self, cutoff_rule: str) -> tuple[float, float]:
        """Return the gap below which two events are a pure pair, and that from which on a pair is mixed."""
        return gap_bounds(self.pure, self.mixed, self.largest_time, cutoff_rule == "scripts")


def find_cutoffs(
    survival: Survival, weight: np.ndarray, pure_quantile: float, mixed_quantile: float, cutoff_rule: str
) -> Cutoffs:
    """Exact cut-offs of the time gaps of all comparable pairs; rows come in dipole order (see `_core.dipoles`)."""
    pure, mixed = _find_cutoffs(
        survival.time, survival.event, weight, pure_quantile, mixed_quantile, cutoff_rule == "scripts"
    )
    return Cutoffs(float(pure), float(mixed), float(survival.time[-1]))
