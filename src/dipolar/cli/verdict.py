"""What cross-validated scores say, in words: is this model any good, and which is best?

A difference counts where it is more than two standard errors of the paired differences over the folds.
"""

from __future__ import annotations

from dipolar.cli.evaluation import SCORES, Evaluation
from dipolar.cli.messages import alternatives

__all__ = ["best_in_words", "verdict_on"]

ERRORS_THAT_COUNT = 2.0

# What a score judges.
BY = {"harrell_c": "by Harrell's C", "ibs": "by the IBS"}

COMPARED = {1: "better", -1: "worse"}

ONE_CURVE = "Kaplan-Meier"
CALLED = {ONE_CURVE: "one curve for all", "Cox": "Cox's model"}


def verdict_on(result: Evaluation, name: str) -> str | None:
    """Say in one sentence how a model does beside the others; None where nothing could be scored."""
    others = sorted((other for other in result.names if other != name), key=lambda other: other != ONE_CURVE)
    said: dict[str, list[str]] = {}
    for other in others:
        found = {measure: _sign(result, name, other, measure) for measure in SCORES}
        words = _words({measure: sign for measure, sign in found.items() if sign is not None}, other == ONE_CURVE)
        if words is not None:
            said.setdefault(words, []).append(CALLED.get(other, f"the {other}"))
    clauses = [words.format(" and ".join(called)) for words, called in said.items()]
    return f"On rows that it has not seen, the {name} is {_joined(clauses)}." if clauses else None


def best_in_words(result: Evaluation) -> str | None:
    """Say which model is best by each score, and which others are as good as far as the folds can tell."""
    said = [_best_by(result, measure) for measure in SCORES]
    return " ".join(words for words in said if words) or None


def _words(signs: dict[str, int], is_curve: bool) -> str | None:
    """Return the clause about another model, with a gap for its name."""
    if not signs:
        return None
    equal = "no better than {}" if is_curve else "about as good as {}"
    first, *rest = sorted(signs, key=lambda measure: -abs(signs[measure]))  # the clearer statement comes first
    if all(signs[other] == signs[first] for other in rest):
        on = " on both scores" if rest else f" {BY[first]}"
        return f"{COMPARED[signs[first]]} than {{}}{on}" if signs[first] else equal
    (second,) = rest
    then = COMPARED[signs[second]] if signs[second] else "no better" if is_curve else "about as good"
    return f"{COMPARED[signs[first]]} than {{}} {BY[first]} but {then} {BY[second]}"


def _joined(clauses: list[str]) -> str:
    mark = ";" if any(" but " in clause for clause in clauses) else ","
    return clauses[0] if len(clauses) == 1 else f"{f'{mark} '.join(clauses[:-1])}{mark} and {clauses[-1]}"


def _sign(result: Evaluation, name: str, other: str, measure: str) -> int | None:
    """Return 1 where a model is better than another beyond chance, -1 where it is worse, 0 where none can tell."""
    lead, error = result.lead(name, other, measure)
    if lead is None or error is None:
        return None
    return 0 if abs(lead) <= ERRORS_THAT_COUNT * error else 1 if lead > 0 else -1


def _best_by(result: Evaluation, measure: str) -> str | None:
    means = {name: result.mean_and_error(name, measure)[0] for name in result.names}
    scored = {name: mean for name, mean in means.items() if mean is not None}
    if len(scored) < 2:
        return None
    best = (max if measure == "harrell_c" else min)(scored, key=lambda name: scored[name])
    as_good = [name for name in scored if name != best and not _sign(result, best, name, measure)]
    rest = f"; not clearly worse: {alternatives(as_good, 'and')}" if as_good else ", clearly ahead of all others"
    return f"Best {BY[measure]}: {best} ({scored[best]:.3f}){rest}."
