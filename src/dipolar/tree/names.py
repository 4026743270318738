"""What the covariates of a tree are called in rules, and what conditions on them say of the columns behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from dipolar.preparation.feature import Feature, Phrase

__all__ = ["Names", "check_names", "column_of", "pair_of", "phrase_of"]


@dataclass(frozen=True)
class Names(Sequence[str]):
    """One name per covariate, as a sum calls it: "age", "(stage III)"; with the columns that they were made from."""

    features: tuple[Feature, ...]

    @classmethod
    def of(cls, names: Iterable[str | Feature]) -> Names:
        """Return names of numbers, or what an encoder knows of its covariates (`features_`), as names."""
        return cls(tuple(n if isinstance(n, Feature) else Feature(str(n), str(n), "number") for n in names))

    def __len__(self) -> int:
        return len(self.features)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [feature.term for feature in self.features[number]]
        return self.features[number].term

    @property
    def plain(self) -> list[str]:
        """What the covariates are called in the table that the model sees: "stage=III"."""
        return [feature.name for feature in self.features]


def phrase_of(names: Sequence[str], number: int, threshold: float, above: bool) -> Phrase | None:
    """Return what a cut says of a column; None where the covariate is a number that speaks for itself."""
    feature = _feature(names, number)
    return None if feature is None or feature.is_plain else feature.phrase(threshold, above)


def column_of(names: Sequence[str], number: int) -> str:
    """Return the name of the column that a covariate was made from."""
    feature = _feature(names, number)
    return names[number] if feature is None else feature.column


def pair_of(names: Sequence[str], number: int) -> tuple[float, float] | None:
    """Return the two values of a covariate, None if it has more or they are not known."""
    feature = _feature(names, number)
    return None if feature is None else feature.values


def _feature(names: Sequence[str], number: int) -> Feature | None:
    return names.features[number] if isinstance(names, Names) else None


def check_names(feature_names: Any, n_features: int) -> list[str]:
    """Return one name per covariate: those given, or x0, x1, ..."""
    if feature_names is None:
        return [f"x{column}" for column in range(n_features)]
    is_list = isinstance(feature_names, Iterable) and not isinstance(feature_names, str)
    given = list(feature_names) if is_list else None
    if given is None or len(given) != n_features:
        raise ValueError(
            f"feature_names should hold one name for each of the {n_features} covariates, got "
            f"{repr(feature_names) if given is None else len(given)}."
        )
    return [str(name) for name in given]
