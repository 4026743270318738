"""Samples of weighted rows: how often each row is drawn, in time and memory that do not grow with the weights.

A row of weight w stands for w rows. A few draws for each row are made one after the other. For more of them the rows
are halved again and again, and at each turn the draws are shared out between the halves:

    70 draws             |  a b c d e f g h  |
    39 and 31            |  a b c d | e f g h  |        binomial (with replacement) or hypergeometric (without),
    18, 21, 17 and 14    |  a b | c d | e f | g h  |    given what both halves weigh

which has the same distribution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["deal_out", "draw_with_replacement", "draw_without_replacement"]

# Up to so many draws for each row, one after the other is faster.
FEW_DRAWS = 8

# Below this probability a binomial number is as good as a Poisson one: they differ with no larger a probability, while
# 1 - p, which binomial generators start from, loses that much of p to rounding.
RARE = 1e-8

# Hypergeometric generators count up to 1e9. Heavier rows are drawn in pieces of more than one, few enough for them.
MOST_PIECES = 2.0**29

# Sums of fractional weights that should be equal may differ by this share.
ROUNDING = 1e-12

ShareOut = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def draw_with_replacement(weight: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw rows in proportion to their weights; return how often each was drawn.

    The number of draws is `share` times the sum of the weights, rounded, and at least one.
    """
    n_draws = max(1, round(share * float(weight.sum())))
    if n_draws <= FEW_DRAWS * len(weight):
        edges = np.cumsum(weight)
        drawn = np.searchsorted(edges, rng.random(n_draws) * edges[-1], side="right")
        return _count(np.minimum(drawn, len(weight) - 1), len(weight))

    def to_left(left: np.ndarray, right: np.ndarray, draws: np.ndarray) -> np.ndarray:
        lighter = np.minimum(left, right)
        chance = np.divide(lighter, left + right, out=np.zeros(len(left)), where=lighter > 0)
        is_rare = chance < RARE
        to_lighter = rng.binomial(draws, np.where(is_rare, 0.0, chance))
        to_lighter[is_rare] = np.minimum(rng.poisson(draws[is_rare] * chance[is_rare]), draws[is_rare])
        return np.where(left <= right, to_lighter, draws - to_lighter)

    return _share_out(weight, n_draws, to_left)


def draw_without_replacement(weight: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a share of the rows, none of them twice; return how much of each row's weight was drawn.

    A row of weight 2.5 is three pieces: two rows, and half a row. Of the whole rows `share` times their number are
    drawn, rounded; the fractions are taken in random order until that share of their sum is reached. Something is
    always drawn. Where the weights sum to more than 2^29, more than one row is drawn at a time.
    """
    piece, pieces, fractions = _cut_up(weight)
    drawn = _draw_fractions(fractions, share, rng)
    n_draws = round(share * float(pieces.sum()))
    return drawn + piece * _draw_pieces(pieces, n_draws or int(not drawn.any()), rng)


def deal_out(weight: np.ndarray, stratum: np.ndarray, n_parts: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Deal all rows out to parts; return each part's weight of every row.

    The numbers of whole rows in the parts differ by at most one, those of each stratum too.
    """
    piece, pieces, fractions = _cut_up(weight)
    parts = np.zeros((n_parts, len(weight)))
    n_dealt = 0
    for value in np.unique(stratum):
        left, rest = np.where(stratum == value, (pieces, fractions), 0.0)
        n_after = n_dealt + int(left.sum())
        for number, part in enumerate(parts):
            # As if piece k were dealt to part k modulo their number.
            n_draws = len(range(n_dealt + (number - n_dealt) % n_parts, n_after, n_parts))
            drawn, fraction = _draw_pieces(left, n_draws, rng), _draw_fractions(rest, 1.0 / (n_parts - number), rng)
            left, rest = left - drawn, rest - fraction
            part += piece * drawn + fraction
        n_dealt = n_after
    return list(parts)


def _cut_up(weight: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return how many rows a piece is, how many pieces each row is, and what is left of its weight."""
    piece = 2.0 ** max(0.0, np.ceil(np.log2(weight.sum() / MOST_PIECES)))
    pieces = np.floor(weight / piece)
    return piece, pieces, weight - piece * pieces


def _draw_pieces(pieces: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    if pieces.sum() <= FEW_DRAWS * len(pieces):
        rows = rng.permutation(np.repeat(np.arange(len(pieces)), pieces.astype(np.int64)))
        return _count(rows[:n_draws], len(pieces))

    def to_left(left: np.ndarray, right: np.ndarray, draws: np.ndarray) -> np.ndarray:
        return rng.hypergeometric(left.astype(np.int64), right.astype(np.int64), draws)

    return _share_out(pieces, n_draws, to_left)


def _draw_fractions(fractions: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    rows = rng.permutation(np.flatnonzero(fractions))
    reached = np.cumsum(fractions[rows]) - fractions[rows]
    taken = rows if share == 1.0 else rows[reached < share * fractions.sum() * (1.0 - ROUNDING)]
    drawn = np.zeros(len(fractions))
    drawn[taken] = fractions[taken]
    return drawn


def _share_out(weight: np.ndarray, n_draws: int, to_left: ShareOut) -> np.ndarray:
    """Share draws out among rows by halving; `to_left` says how many of the draws of two halves the first one gets."""
    levels = [_even(weight)]
    while len(levels[-1]) > 2:
        levels.append(_even(levels[-1][::2] + levels[-1][1::2]))
    draws = np.array([n_draws], dtype=np.int64)
    for level in reversed(levels):
        left, right = level[::2], level[1::2]
        draws = draws[: len(left)]
        first = to_left(left, right, draws)
        draws = np.column_stack((first, draws - first)).ravel()
    return draws[: len(weight)].astype(np.float64)


def _count(drawn: np.ndarray, n_rows: int) -> np.ndarray:
    return np.bincount(drawn, minlength=n_rows).astype(np.float64)


def _even(weight: np.ndarray) -> np.ndarray:
    """Add a row of no weight to an odd number of them."""
    return np.append(weight, 0.0) if len(weight) % 2 else weight
