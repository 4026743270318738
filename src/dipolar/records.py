"""Records: frozen dataclasses of arrays, each field of which says once what it holds.

    @dataclass(frozen=True, eq=False)
    class Steps(Record):
        offset: Annotated[np.ndarray, offsets("groups", into="steps")]
        time: Annotated[np.ndarray, reals("steps", low=0)]

From these rules follow the arrays that a file holds, their types, what is checked when one is read, and what two
records have to agree in. An axis of an array is called by a name; arrays with an axis in common have it at one length,
and an index into an axis is below that length. Whatever compiled code uses as an index is checked here, by comparison:
differences of hostile integers wrap around.

A field without a rule is either a record itself, whose arrays are stored under `field.name`, or a plain value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self, get_type_hints

import numpy as np

__all__ = ["ArrayRule", "Record", "flags", "index", "offsets", "part", "reals", "rules_of", "types_of", "wholes"]

LARGEST_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class ArrayRule:
    """What an array is: its type, its shape in named axes, and the range of its values."""

    dtype: Any
    axes: tuple[str, ...]
    low: float = -LARGEST_FLOAT
    high: float = LARGEST_FLOAT
    into: str | None = None  # the axis that the values are places of
    may_be_missing: bool = False  # NaN, or -1 for an index
    ascends: bool = False
    is_offset: bool = False
    may_be_empty: bool = True  # of the groups that offsets delimit

    def read(self, values: np.ndarray) -> np.ndarray:
        """Return the values in the rule's own type, if they have one of that kind and fit."""
        target = np.dtype(self.dtype)
        if values.dtype.kind != target.kind:
            raise ValueError(f"should hold {target}, not {values.dtype}")
        if target.kind == "i" and values.dtype.itemsize > target.itemsize:
            bounds = np.iinfo(target)
            self._require((values >= bounds.min) & (values <= bounds.max), f"integers of {8 * target.itemsize} bits")
        return np.ascontiguousarray(values, dtype=target)

    def fit(self, values: np.ndarray, sizes: dict[str, int]) -> None:
        """Compare the shape with the axes whose length is known, and learn that of the others."""
        extra = 1 if self.is_offset else 0
        lengths = [length - extra for length in values.shape]
        if len(lengths) != len(self.axes) or min(lengths) < 0:
            raise ValueError(f"should have {len(self.axes)} axes ({', '.join(self.axes)}), got shape {values.shape}")
        for axis, length in zip(self.axes, lengths):
            if sizes.setdefault(axis, length) != length:
                raise ValueError(f"should be for {sizes[axis]} {axis}, got {length}")

    def check(self, values: np.ndarray, sizes: Mapping[str, int]) -> None:
        """Raise ValueError unless all values are in range; the axes are known by now."""
        if self.dtype is np.bool_:
            return
        if self.is_offset:
            self._check_offsets(values, sizes)
            return
        low, high = self.low, self.high
        if self.into is not None:
            low, high = (-1 if self.may_be_missing else 0), sizes[self.into] - 1
        inside = (values >= low) & (values <= high)  # False for NaN
        if self.may_be_missing and values.dtype.kind == "f":
            inside |= np.isnan(values)
        noun = "numbers" if values.dtype.kind == "f" else "integers"
        is_bounded = (low, high) != (-LARGEST_FLOAT, LARGEST_FLOAT)
        self._require(inside, f"{noun} from {low:g} to {high:g}" if is_bounded else f"finite {noun}")
        if self.ascends:
            self._require(values[1:] > values[:-1], "ascending values")

    def _check_offsets(self, values: np.ndarray, sizes: Mapping[str, int]) -> None:
        assert self.into is not None
        end = sizes[self.into]
        what = f"offsets that ascend from 0 to {end}"
        self._require((values >= 0) & (values <= end), what)
        before, after = values[:-1], values[1:]
        self._require(after >= before if self.may_be_empty else after > before, what)
        self._require(np.array([values[0] == 0, values[-1] == end]), what)

    @staticmethod
    def _require(holds: np.ndarray, what: str) -> None:
        if not holds.all():
            raise ValueError(f"should hold {what}")


def reals(
    *axes: str,
    low: float = -LARGEST_FLOAT,
    high: float = LARGEST_FLOAT,
    may_be_missing: bool = False,
    ascends: bool = False,
) -> ArrayRule:
    """Return the rule of an array of numbers, finite unless a limit is infinite."""
    return ArrayRule(np.float64, axes, low, high, may_be_missing=may_be_missing, ascends=ascends)


def wholes(*axes: str, low: int, high: int, dtype: Any = np.int64) -> ArrayRule:
    """Return the rule of an array of whole numbers."""
    return ArrayRule(dtype, axes, low, high)


def flags(*axes: str) -> ArrayRule:
    """Return the rule of an array of truth values."""
    return ArrayRule(np.bool_, axes)


def index(*axes: str, into: str, may_be_missing: bool = False, dtype: Any = np.int32) -> ArrayRule:
    """Return the rule of an array of places on the axis `into`, and -1 for none where that may be."""
    return ArrayRule(dtype, axes, into=into, may_be_missing=may_be_missing)


def offsets(of: str, *, into: str, may_be_empty: bool = True) -> ArrayRule:
    """Return the rule of offsets: group g of the axis `of` owns the places offset[g] to offset[g + 1] of `into`."""
    return ArrayRule(np.int64, (of,), into=into, is_offset=True, may_be_empty=may_be_empty)


class Record:
    """Base of frozen dataclasses whose arrays have rules."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return every array of the record, and of the records in it, under a flat name."""
        rules = rules_of(type(self))
        arrays: dict[str, np.ndarray] = {}
        for name, value in self._values().items():
            if name in rules:
                arrays[name] = np.asarray(value, rules[name].dtype)
            elif isinstance(value, Record):
                arrays |= {f"{name}.{inner}": values for inner, values in value.to_arrays().items()}
        return arrays

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], **others: Any) -> Self:
        """Return the record with these arrays in the types that it has them in, and these values of other fields."""
        return cls(**{name: _read(cls, name, rule, arrays) for name, rule in rules_of(cls).items()}, **others)

    def check_arrays(self, known: Collection[str] = (), **sizes: int) -> dict[str, int]:
        """Raise ValueError unless all arrays obey their rules; return the lengths of all axes, given those of some.

        The values of arrays in `known`, which records share, are not looked at again.
        """
        rules = rules_of(type(self))
        for name, rule in rules.items():
            _named(type(self), name, rule.fit, getattr(self, name), sizes)
        for name, rule in rules.items():
            if name in known:
                continue
            _named(type(self), name, rule.check, getattr(self, name), sizes)
        return sizes

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        rules, theirs = rules_of(type(self)), other._values()
        return all(
            _same_values(value, theirs[name]) if name in rules else value == theirs[name]
            for name, value in self._values().items()
        )

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def rules_of(record: Any) -> dict[str, ArrayRule]:
    """Return the rules of the arrays of a record by name, in the order of its fields."""
    return _rules_of(record)


@cache
def _rules_of(record: Any) -> dict[str, ArrayRule]:
    hints = get_type_hints(record, include_extras=True)
    rules = {
        field.name: [note for note in getattr(hints[field.name], "__metadata__", ()) if isinstance(note, ArrayRule)]
        for field in fields(record)
    }
    return {name: found[0] for name, found in rules.items() if found}


def types_of(record: type[Record]) -> dict[str, Any]:
    """Return the types of the arrays of a record by name."""
    return {name: rule.dtype for name, rule in rules_of(record).items()}


def part(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """Return the arrays of an inner record, stored under `name.`, by their own names."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): values for key, values in arrays.items() if key.startswith(prefix)}


def _named(record: type[Record], name: str, check: Any, *arguments: Any) -> Any:
    """Call a check, and begin its error with the name of the array."""
    try:
        return check(*arguments)
    except ValueError as error:
        raise ValueError(f"{record.__name__}.{name} {error}") from error


def _read(record: type[Record], name: str, rule: ArrayRule, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    if name not in arrays:
        raise ValueError(f"{record.__name__}.{name} is missing")
    return _named(record, name, rule.read, np.asarray(arrays[name]))


def _same_values(mine: np.ndarray, theirs: np.ndarray) -> bool:
    return np.array_equal(mine, theirs, equal_nan=np.asarray(mine).dtype.kind == "f")
