"""Splits in words: what a node asks, as long or as short as there is room for.

A rule is the condition for going left. Sums are written in the units of the data: a split that was found on
standardised covariates z = (x - mean) / scale is expanded into one of x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product, takewhile
from math import comb, isfinite, prod

import numpy as np

from dipolar.kernels import LinearKernel, Monomial
from dipolar.node_svm.factors import Surface
from dipolar.preparation.feature import Phrase
from dipolar.words import threshold_text

__all__ = [
    "Condition",
    "first_that_fits",
    "flatten",
    "influence_rules",
    "name_rules",
    "phrase_rules",
    "polynomial_terms",
    "prototype_text",
    "shorten",
    "shorten_names",
    "sum_rules",
    "threshold_texts",
]


OPPOSITE = {"<": ">=", "<=": ">", ">": "<="}


@dataclass(frozen=True)
class Condition:
    """The condition for going left, in parts: "0.21 age" "- 1.4 sex" < "12"."""

    parts: tuple[str, ...]  # terms of a sum or items of a list, between which a line may end
    sign: str = ""  # "<", "<=", ">" or "is"; none where the parts say it all
    bound: str = ""  # what the parts are compared with

    def __str__(self) -> str:
        return " ".join(filter(None, [*self.parts, self.sign, self.bound]))

    def negated(self) -> Condition:
        """Return the condition for going right."""
        if self.sign not in OPPOSITE:
            return Condition((f"not ({self})",))
        return replace(self, sign=OPPOSITE[self.sign])


# So is one that has as few, but takes long to multiply out: three covariates to the power of 20.
MAX_PRODUCTS = 20_000

# Lengths to which names are cut, one after the other, before a rule loses terms.
NAME_LIMITS = (None, 32, 20, 12)

# Characters to which the name of a single covariate is cut at most.
SHORTEST_NAME = 6

# Of more names than this only those that a rule may show are kept apart.
MANY_NAMES = 500

# Significant digits of a threshold, and of the weights of a sum: whole, and where room is narrow.
THRESHOLD_DIGITS = (6, 4, 3)
SUM_DIGITS = (4, 3)

# Share of the score that a covariate needs to be named in a sum.
NEGLIGIBLE = 1e-6

ELLIPSIS = "…"


def flatten(name: str) -> str:
    """Put a name on one line: line breaks, tabs and other runs of white space become one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())


def shorten(text: str, width: int | None) -> str:
    """Leave out the middle of a text that is longer than `width`: names often share their beginnings."""
    if width is None or len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + ELLIPSIS + (text[-tail:] if tail else "")


def shorten_names(names: Sequence[str], width: int | None) -> list[str]:
    """Shorten names so that different ones stay different.

    Those that would look alike are shown around the place where they begin to differ, or numbered if that is not
    enough.
    """
    short = [shorten(name, width) for name in names]
    if width is None:
        return short
    for alike in _same_texts(short, names):
        letters = zip(*(names[k] for k in alike))
        start = len(list(takewhile(lambda letter: len(set(letter)) == 1, letters)))
        for k in alike:
            short[k] = _window(names[k], start, width)
    for alike in _same_texts(short, names):
        for k in alike:
            tag = f"#{k + 1}"
            short[k] = shorten(names[k], max(1, width - len(tag))) + tag
    return short


def _same_texts(short: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """Groups of positions with one text but different names."""
    groups: dict[str, list[int]] = {}
    for k, text in enumerate(short):
        groups.setdefault(text, []).append(k)
    return [group for group in groups.values() if len({names[k] for k in group}) > 1]


def _window(name: str, start: int, width: int) -> str:
    """A part of a name, `width` characters in all, in whose middle `start` is."""
    first = max(0, min(start - (width - 2) // 2, len(name) - (width - 1)))
    text = (ELLIPSIS if first else "") + name[first:]
    return text if len(text) <= width else text[: width - 1] + ELLIPSIS


def first_that_fits(candidates: Iterator[Condition], width: int | None) -> Condition:
    """Return the first condition whose text is no longer than `width`; if there is none, the last one cut to it.

    The last one should hold no number: half a number is another number.
    """
    text = ""
    for condition in candidates:
        text = str(condition)
        if width is None or len(text) <= width:
            return condition
    return Condition((shorten(text, width),))


def threshold_texts(threshold: float) -> list[str]:
    """Write the threshold of "x <= threshold" with fewer and fewer significant digits, each text shorter."""
    return _shorter_and_shorter(threshold_text(threshold, digits) for digits in THRESHOLD_DIGITS)


def _shorter_and_shorter(texts: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for text in texts:
        if not kept or len(text) < len(kept[-1]):
            kept.append(text)
    return kept


def name_rules(name: str, sign: str, bounds: Sequence[str]) -> Iterator[Condition]:
    """Ways to write "name sign bound", each shorter than the one before; a bound is never cut.

    The bounds say the same in fewer and fewer characters. The name is cut beside the last but one of them, shortest
    beside the last one, and stands alone at the end.
    """
    least = shorten(name, SHORTEST_NAME)
    *fuller, last = bounds
    for bound in fuller or bounds:
        yield Condition((name,), sign, bound)
    for length in range(len(name) - 1, SHORTEST_NAME - 1, -1):
        yield Condition((shorten(name, length),), sign, bound)
    yield Condition((least,), sign, last)
    yield Condition((f"{least} {ELLIPSIS}",))


def phrase_rules(phrase: Phrase, more: str = "") -> Iterator[Condition]:
    """Ways to write what is said of a column, each shorter than the one before."""
    yield from name_rules(flatten(f"{phrase.before} {phrase.column}"), "", [f"{flatten(phrase.after)}{more}"])


def polynomial_terms(surface: Surface, mean: np.ndarray, scale: np.ndarray) -> dict[Monomial, float] | None:
    """Write the score of a surface as a sum of monomials of the covariates as they were given.

    Returns None for a kernel that is no polynomial, for one of thousands of terms, and where the terms are too large
    for floating point in those units.
    """
    if isinstance(surface.kernel, LinearKernel) and not len(surface.rows):
        return _linear_terms(surface, mean, scale)
    monomials = surface.kernel.monomials(len(mean))
    if monomials is None or sum(prod(k + 1 for k in Counter(m).values()) for m, _ in monomials) > MAX_PRODUCTS:
        return None
    if len(surface.rows):  # sum_b c_b k(b, z) over the basis rows b
        weights = {m: w * float(surface.coefficients @ np.prod(surface.rows[:, m], axis=1)) for m, w in monomials}
    else:
        features = [(m, float(np.sqrt(w))) for m, w in monomials if m]
        weights = {m: factor * c for (m, factor), c in zip(features, surface.coefficients.tolist())}
    weights[()] = weights.get((), 0.0) + surface.intercept
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        terms = _unstandardise(weights, mean, scale)
    return terms if all(map(isfinite, terms.values())) else None


def _linear_terms(surface: Surface, mean: np.ndarray, scale: np.ndarray) -> dict[Monomial, float] | None:
    """The same for a hyperplane, of which there may be many terms."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        weights = surface.coefficients / scale
        constant = np.cumsum(weights * -mean)[-1] + surface.intercept  # summed one by one, as of any polynomial
    if not (isfinite(constant) and np.isfinite(weights).all()):
        return None
    return {(): float(constant)} | {(column,): weight for column, weight in enumerate(weights.tolist())}


def sum_rules(
    terms: dict[Monomial, float],
    boundary: float,
    names: Sequence[str],
    shares: np.ndarray,
    *,
    is_round: bool = False,
    width: int | None = None,
) -> Iterator[Condition]:
    """Ways to write "sum of terms < constant", shorter and shorter: weights are rounded, names cut, terms dropped.

    A sum of which all terms are negative is written as the opposite, with ">".

    A sum of first powers may drop those of the least influential covariates; other polynomials are written in full
    or not at all, because their terms cannot be ranked one by one. Numbers that are round are written as they are.
    Sums of so many terms that none of their texts fits into `width` are left out.
    """
    whole = None if is_round else SUM_DIGITS[0]
    constant = boundary - terms.get((), 0.0)
    monomials = [monomial for monomial, weight in terms.items() if monomial and weight != 0]
    is_linear = all(len(monomial) == 1 for monomial in monomials)
    if is_linear:
        # What a solver leaves of a covariate that does not matter is rounding, and no term.
        monomials = [monomial for monomial in monomials if shares[monomial[0]] > NEGLIGIBLE] or monomials
    if not monomials:
        yield Condition(("0",), "<", _number(constant, whole))
    elif is_linear and len(monomials) == 1:
        column, weight = monomials[0][0], terms[monomials[0]]
        sign = "<" if weight > 0 else ">"
        cuts = _shorter_and_shorter(_number(constant / weight, digits) for digits in (whole, *SUM_DIGITS))
        yield from name_rules(names[column], sign, cuts)
    else:
        sign = "<"
        if all(terms[monomial] < 0 for monomial in monomials):  # "age + sex > 12" reads better than the opposite
            terms, constant, sign = {monomial: -terms[monomial] for monomial in monomials}, -constant, ">"
        fewest = 1 if is_linear else len(monomials)
        yield from _long_sum_rules(monomials, terms, sign, constant, names, shares, fewest, whole, width)


def _long_sum_rules(
    monomials: list[Monomial],
    terms: dict[Monomial, float],
    sign: str,
    constant: float,
    names: Sequence[str],
    shares: np.ndarray,
    fewest: int,
    whole: int | None,
    width: int | None,
) -> Iterator[Condition]:
    by_share = sorted(range(len(monomials)), key=lambda place: -shares[monomials[place][0]])
    ranked = by_share if fewest == 1 else list(range(len(monomials)))
    rounded = SUM_DIGITS[-1]
    # A term and the space behind it have at least three characters.
    most = len(monomials) if width is None else min(len(monomials), max(fewest, width // 3 + 1))
    shown_columns = np.unique([column for place in ranked[:most] for column in monomials[place]])
    shortened = cache(lambda limit: _shorten_some(names, shown_columns, limit))
    for kept in range(most, fewest - 1, -1):
        more = [f"+ {len(monomials) - kept} more"] if kept < len(monomials) else []
        told = [monomials[place] for place in sorted(ranked[:kept])]
        for limit, digits in ((None, whole), *((limit, rounded) for limit in NAME_LIMITS)):
            shown = shortened(limit)
            parts = [_term_text(terms[m], digits, _monomial_text(m, shown), m is told[0]) for m in told]
            yield Condition((*parts, *more), sign, _number(constant, whole))


def _shorten_some(names: Sequence[str], columns: np.ndarray, width: int | None) -> Sequence[str] | dict[int, str]:
    """Shorten names; where there are very many, only those of some columns."""
    if len(names) <= MANY_NAMES:
        return shorten_names(names, width)
    return dict(zip(columns.tolist(), shorten_names([names[column] for column in columns], width)))


def influence_rules(surface: Surface, names: Sequence[str], shares: np.ndarray, most: int = 5) -> Iterator[Condition]:
    """Ways to write "kernel score of the most influential covariates < 0", each shorter than the one before."""
    word = surface.kernel.word
    ranked = [column for column in np.argsort(-shares, kind="stable") if shares[column] >= 0.005]
    shortened = cache(lambda limit: _shorten_some(names, np.array(ranked[:most], np.int64), limit))
    for kept in range(min(most, len(ranked)), 0, -1):
        rest = [f"{len(ranked) - kept} more"] if kept < len(ranked) else []
        for limit in NAME_LIMITS:
            shown = shortened(limit)
            listed = [f"{shown[c]} ({100 * shares[c]:.0f}%)" for c in ranked[:kept]] + rest
            items = [f"{item}," for item in listed[:-1]] + listed[-1:]
            yield Condition((*word.split(), "score", f"of {items[0]}", *items[1:]), "<", "0")
    for kept in range(min(most, len(ranked)), 0, -1):
        more = f", {ELLIPSIS}" if kept < len(ranked) else ""
        for limit in NAME_LIMITS:
            shown = shortened(limit)
            yield Condition((f"f({', '.join(shown[c] for c in ranked[:kept])}{more})",), "<", "0")
    yield Condition(("score",), "<", "0")


def prototype_text(X: np.ndarray, score: np.ndarray, names: Sequence[str], shares: np.ndarray, most: int = 5) -> str:
    """Describe the rows farthest to the left and to the right of a surface, by its most influential covariates."""
    leading = np.argsort(-shares, kind="stable")[:most]
    left, right = (
        ", ".join(f"{names[column]} {_number(X[row, column])}" for column in leading)
        for row in (int(np.argmin(score)), int(np.argmax(score)))
    )
    return f"farthest left: {left}; farthest right: {right}"


def _unstandardise(terms: dict[Monomial, float], mean: np.ndarray, scale: np.ndarray) -> dict[Monomial, float]:
    """Replace z by (x - mean) / scale and collect terms, constants first, then by degree."""
    collected: dict[Monomial, float] = {}
    for columns, weight in terms.items():
        weight = float(weight / np.prod(scale[list(columns)]))
        powers = Counter(columns)
        # Multiplying out: of the factors (x - mean) of a covariate, some give their x and the others their -mean.
        for kept in product(*(range(power + 1) for power in powers.values())):
            monomial: Monomial = ()
            part = weight
            for (column, power), n_kept in zip(powers.items(), kept):
                monomial += (column,) * n_kept
                part *= comb(power, n_kept) * prod([-float(mean[column])] * (power - n_kept))
            collected[monomial] = collected.get(monomial, 0.0) + part
    return dict(sorted(collected.items(), key=lambda item: (len(item[0]), item[0])))


def _monomial_text(monomial: Monomial, names: Sequence[str] | dict[int, str]) -> str:
    powers = {column: monomial.count(column) for column in sorted(set(monomial))}
    return "*".join(names[column] + (f"^{power}" if power > 1 else "") for column, power in powers.items())


def _term_text(weight: float, digits: int | None, name: str, is_first: bool) -> str:
    """Write a term of a sum: "0.21 age" or "-0.21 age" where it starts, "+ 0.21 age" or "- 0.21 age" behind others."""
    signs = ("-", "") if is_first else ("- ", "+ ")
    number = "" if digits is None and abs(weight) == 1 else f"{_number(abs(weight), digits)} "
    return f"{signs[0] if weight < 0 else signs[1]}{number}{name}"


def _number(value: float, digits: int | None = SUM_DIGITS[0]) -> str:
    """Write a number with so many significant digits; None writes all that it has."""
    return repr(value + 0.0).removesuffix(".0") if digits is None else f"{value:.{digits}g}"
