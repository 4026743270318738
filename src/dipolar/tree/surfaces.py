"""Splits along surfaces: hyperplanes, and whatever a kernel makes of them.

A row goes left when its score is below 0; :class:`dipolar.node_svm.factors.Surface` says which way rows on the surface
go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from dipolar._core.surfaces import fill_scores, route_surfaces
from dipolar.kernels import LARGEST_SCALE, Kernel, LinearKernel
from dipolar.node_svm.factors import Surface, snap
from dipolar.parameters import check_flag
from dipolar.preparation.feature import Condition as Cut
from dipolar.records import index, reals, wholes
from dipolar.records import offsets as offsets_of
from dipolar.scaling import SMALLEST_SPREAD
from dipolar.tree.flat import entries, numbers, offsets
from dipolar.tree.names import pair_of, phrase_of
from dipolar.tree.rules import (
    Condition,
    first_that_fits,
    flatten,
    influence_rules,
    phrase_rules,
    polynomial_terms,
    prototype_text,
    sum_rules,
)
from dipolar.tree.splits import Splits, register_kind, route_by_nodes

__all__ = ["MOST_KERNELS", "MonomialTables", "Surfaces", "is_linear", "surface_shares"]

# Coefficients and kernel values, and scores, which are sums of products of both, are no larger.
LARGEST_FACTOR, LARGEST_SCORE = LARGEST_SCALE**2, LARGEST_SCALE**3

# Shares sum to 1 but for rounding, which may also make values of kernels larger.
ROUNDING = 1e-6

# Share of a surface that a covariate has which it depends on alone.
ALL_BUT_ROUNDING = 1 - 1e-6

# A tree draws from so many kernels at most.
MOST_KERNELS = 100

# Rows of a node that are looked at to share its gain among the covariates.
ROWS_FOR_SHARES, FEWEST_ROWS_FOR_SHARES = 64, 8

# Numbers that these rows, once for each covariate, should have in all.
SCORED_FOR_SHARES = 32_000_000

# Numbers that may be copied at a time for that (8 MB).
NUMBERS_FOR_SHARES = 1_000_000


@dataclass(frozen=True)
class MonomialTables:
    """The explicit features of a kernel on several numbers of columns, as `_core.surfaces` takes them."""

    start_of: np.ndarray  # (most columns + 1,) int64, the first line of the table for so many columns
    size_of: np.ndarray  # (most columns + 1,) int64, its number of lines
    factor: np.ndarray  # (n_lines, degree) int64, places of the columns that are multiplied, -1 for none
    size: np.ndarray  # (n_lines,) what they are multiplied by

    @classmethod
    def of(cls, kernel: Kernel, numbers_of_columns: Iterable[int]) -> MonomialTables:
        """List the features, for those numbers of columns on which the kernel has some."""
        numbers_of_columns = list(numbers_of_columns)
        wanted = [m for m in numbers_of_columns if kernel.n_features(m) is not None]
        most = max(numbers_of_columns)
        if isinstance(kernel, LinearKernel):
            counted = np.arange(most + 1)
            return cls(np.zeros_like(counted), counted, np.arange(most)[:, None], np.ones(most))
        start, size = np.zeros(most + 1), np.zeros(most + 1)
        if not wanted:
            return cls(start.astype(np.int64), size.astype(np.int64), np.empty((0, 1), np.int64), np.empty(0))
        widest = max(wanted)
        if kernel.n_features(widest) == widest:  # those of fewer columns are the first of those of more
            lines = _features(kernel, widest)
            size[: widest + 1] = np.arange(widest + 1.0)
        else:
            parts = [_features(kernel, m) for m in wanted]
            lines = list(chain.from_iterable(parts))
            size[wanted] = [len(part) for part in parts]
            start[wanted] = np.cumsum([0, *size[wanted][:-1]])
        degree = max(len(columns) for columns, _ in lines)
        factor = np.full((len(lines), degree), -1)
        for line, (columns, _) in enumerate(lines):
            factor[line, : len(columns)] = columns
        return cls(start.astype(np.int64), size.astype(np.int64), factor, np.array([weight for _, weight in lines]))

    @property
    def widest(self) -> int:
        """The most features that there are."""
        return int(self.size_of.max())

    def sizes(self, n_columns: int) -> np.ndarray:
        """Return what the features of so many columns are multiplied by."""
        start = self.start_of[n_columns]
        return self.size[start : start + self.size_of[n_columns]]


def _sizes(kernel: Kernel, n_columns: int) -> np.ndarray:
    """Return by what each feature of a kernel is multiplied."""
    if isinstance(kernel, LinearKernel):
        return np.ones(n_columns)
    return np.array([weight for _, weight in _features(kernel, n_columns)])


def _features(kernel: Kernel, n_columns: int) -> list[tuple[tuple[int, ...], float]]:
    return [(columns, float(np.sqrt(weight))) for columns, weight in kernel.monomials(n_columns) or () if columns]


def is_linear(kernel: Kernel) -> bool:
    """Tell whether the explicit features of a kernel are the covariates."""
    return _features(kernel, 2) == [((0,), 1.0), ((1,), 1.0)]


def surface_shares(surface: Surface, X: np.ndarray) -> np.ndarray:
    """Share the gain of a surface among the covariates by how much its score depends on each.

    A covariate counts with the mean absolute change of the score when its values are replaced by their mean. For a
    hyperplane this is |coefficient| times the mean absolute deviation. Of curved surfaces at most 64 rows, evenly
    spread, are looked at. Where there are more than 700 covariates, each is a small part of the score, and the change
    is taken to the first order; of kernels that know none fewer rows are looked at, down to 8.

    Parameters
    ----------
    surface : Surface
        The split of the node.
    X : ndarray of shape (n_rows, n_columns)
        The rows of the node, scaled as the surface wants them.
    """
    n_columns = X.shape[1]
    if not len(surface.rows) and is_linear(surface.kernel):
        return _in_shares(np.abs(surface.coefficients) * np.abs(X - X.mean(axis=0)).mean(axis=0))
    effect = np.zeros(n_columns)
    if ROWS_FOR_SHARES * n_columns**2 > SCORED_FOR_SHARES and len(surface.rows):
        few = X[np.linspace(0, len(X) - 1, min(len(X), ROWS_FOR_SHARES)).astype(np.int64)]
        moves = surface.kernel.moves(few, surface.rows, surface.coefficients, few.mean(axis=0) - few)
        if moves is not None:
            return _in_shares(np.abs(moves).mean(axis=0))
    most = min(ROWS_FOR_SHARES, max(FEWEST_ROWS_FOR_SHARES, SCORED_FOR_SHARES // n_columns**2))
    if len(X) > most:
        X = X[np.linspace(0, len(X) - 1, most).astype(np.int64)]
    scores, mean = surface.sums(X), X.mean(axis=0)
    step = max(1, NUMBERS_FOR_SHARES // X.size)
    for first in range(0, n_columns, step):
        columns = np.arange(first, min(first + step, n_columns))
        flattened = np.tile(X, (len(columns), 1, 1))
        flattened[np.arange(len(columns)), :, columns] = mean[columns, None]
        moved = surface.sums(flattened.reshape(-1, n_columns)).reshape(len(columns), len(X))
        effect[columns] = np.abs(moved - scores).mean(axis=1)
    return _in_shares(effect)


def _in_shares(effect: np.ndarray) -> np.ndarray:
    total = effect.sum()
    return effect / total if total > 0 else np.full(len(effect), 1.0 / len(effect))


@register_kind
@dataclass(frozen=True, eq=False)
class Surfaces(Splits):
    """The surfaces of all nodes in flat arrays.

    Split s, counted over the nodes that are split, has one of the kernels and owns a range of each flat array: the
    covariates that it looks at, each with its share of the gain; coefficients; and basis rows. It has no basis rows
    where the coefficients are those of monomials of its covariates, in the order of `kernel.monomials`. Each basis row
    is kept once, whatever the number of nodes that use it.

    Hyperplanes may be *round*: their coefficients are those of the covariates as they were given, and have few digits.
    The boundary of one is rounding: rows on it go right, and rules write its numbers as they are.
    """

    kind: ClassVar[str] = "surface"

    kernels: tuple[Kernel, ...]  # on all covariates
    split: Annotated[np.ndarray, index("nodes", into="splits", may_be_missing=True)]  # number of a node's split, or -1
    kernel: Annotated[np.ndarray, wholes("splits", low=0, high=MOST_KERNELS - 1, dtype=np.int8)]  # which of the kernels
    column_offset: Annotated[np.ndarray, offsets_of("splits", into="uses of columns", may_be_empty=False)]
    column: Annotated[np.ndarray, index("uses of columns", into="features")]
    share: Annotated[np.ndarray, reals("uses of columns", low=0, high=1 + ROUNDING)]
    offset: Annotated[np.ndarray, offsets_of("splits", into="coefficients", may_be_empty=False)]
    coefficient: Annotated[np.ndarray, reals("coefficients", low=-LARGEST_FACTOR, high=LARGEST_FACTOR)]
    basis_offset: Annotated[np.ndarray, offsets_of("splits", into="uses of rows")]
    basis_row: Annotated[np.ndarray, index("uses of rows", into="rows")]
    basis: Annotated[np.ndarray, reals("rows", "features", low=-LARGEST_SCALE, high=LARGEST_SCALE)]  # scaled
    intercept: Annotated[np.ndarray, reals("splits", low=-LARGEST_SCORE, high=LARGEST_SCORE)]
    boundary: Annotated[np.ndarray, reals("splits", low=-LARGEST_SCORE, high=LARGEST_SCORE)]
    mean: Annotated[np.ndarray, reals("features", low=-2 * LARGEST_SCALE, high=2 * LARGEST_SCALE)]  # subtracted first
    scale: Annotated[np.ndarray, reals("features", low=SMALLEST_SPREAD, high=2 * LARGEST_SCALE)]  # divided by then
    is_round: bool = False

    def columns(self, node: int) -> np.ndarray:
        """Return the covariates that a node looks at."""
        return self.column[self._range(self.column_offset, node)]

    def surface(self, node: int) -> Surface:
        """Return the surface of a node that is split; it scores the node's columns of scaled rows."""
        split, columns = self.split[node], self.columns(node)
        kernel = self._kernel_on(int(self.kernel[split]), len(columns))
        rows = _take_columns(self.basis[self.basis_row[self._range(self.basis_offset, node)]], columns)
        coefficients = self.coefficient[self._range(self.offset, node)]
        if not len(rows):
            coefficients = coefficients / _sizes(kernel, len(columns))
        return Surface(kernel, rows, coefficients, float(self.intercept[split]), float(self.boundary[split]))

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        return self._score(self.prepare(X), node)

    def rows_go_left(self, X: np.ndarray, rows: np.ndarray, node: int) -> np.ndarray:
        return self.score(X[rows], node) < 0

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        shares = np.zeros(n_features)
        shares[self.columns(node)] = self.share[self._range(self.column_offset, node)]
        return shares

    def total_shares(self, gain: np.ndarray, n_features: int) -> np.ndarray:
        of_split = gain[self.split >= 0]
        return np.bincount(self.column, np.repeat(of_split, np.diff(self.column_offset)) * self.share, n_features)

    def used(self, n_features: int) -> np.ndarray:
        return np.bincount(self.column, self.share > 0, n_features) > 0

    def condition(self, node: int, names: Sequence[str], width: int | None = None) -> Condition:
        cut = self.cut(node, names, True)
        phrase = None if cut is None else phrase_of(names, *cut)
        if phrase is not None:
            return first_that_fits(phrase_rules(phrase), width)
        columns, surface = self.columns(node), self.surface(node)
        shares = self.share[self._range(self.column_offset, node)]
        names = [flatten(names[column]) for column in columns]
        terms = polynomial_terms(surface, self.mean[columns], self.scale[columns])
        boundary = 0.0 if self.is_round else surface.boundary
        sums = () if terms is None else sum_rules(terms, boundary, names, shares, is_round=self.is_round, width=width)
        return first_that_fits(chain(sums, influence_rules(surface, names, shares)), width)

    def side(self, node: int, names: Sequence[str], is_left: bool) -> Condition:
        cut = self.cut(node, names, is_left)
        phrase = None if cut is None else phrase_of(names, *cut)
        return super().side(node, names, is_left) if phrase is None else next(phrase_rules(phrase))

    def cut(self, node: int, names: Sequence[str], is_left: bool) -> Cut | None:
        """A surface is a cut where all that it does is to part the two values of a covariate."""
        shares = self.share[self._range(self.column_offset, node)]
        column = int(self.columns(node)[np.argmax(shares)])
        values = pair_of(names, column)
        if values is None or shares.max() < ALL_BUT_ROUNDING:
            return None
        rows = np.zeros((2, len(self.mean)))
        rows[:, column] = values
        low_is_left, high_is_left = self.goes_left(rows, node)
        return None if low_is_left == high_is_left else Cut(column, sum(values) / 2, bool(high_is_left == is_left))

    def prototypes(self, node: int, names: Sequence[str]) -> str:
        columns, surface = self.columns(node), self.surface(node)
        if not len(surface.rows) or self.terms(node) is not None:
            return ""
        shares = self.share[self._range(self.column_offset, node)]
        rows = surface.rows * self.scale[columns] + self.mean[columns]
        return prototype_text(rows, surface.score(surface.rows), [flatten(names[c]) for c in columns], shares)

    def terms(self, node: int) -> dict[tuple[int, ...], float] | None:
        """Return the score of a node as a sum: the coefficient of each product of covariates, in their own units.

        A product is given by its columns, repeated for powers; () is the constant. None where the kernel is not a
        polynomial.
        """
        columns = self.columns(node)
        terms = polynomial_terms(self.surface(node), self.mean[columns], self.scale[columns])
        if terms is None:
            return None
        own = columns.tolist()
        return {tuple([own[place] for place in places]): weight for places, weight in terms.items()}

    def kernels_over_rows(self) -> list[Kernel]:
        over_rows = self.kernel[np.diff(self.basis_offset) > 0]
        return [self.kernels[number] for number in np.unique(over_rows)]

    def plain_shared(self, rows: bool) -> dict[str, Any]:
        return {
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "basis": self.basis.tolist() if rows else None,
        }

    def plain(self, node: int, rows: bool) -> dict[str, Any]:
        columns, surface, terms = self.columns(node), self.surface(node), self.terms(node)
        basis_rows = self.basis_row[self._range(self.basis_offset, node)]
        return {
            "kernel": surface.kernel.to_dict() | {"word": surface.kernel.word},
            "columns": columns.tolist(),
            "coefficients": self.coefficient[self._range(self.offset, node)].tolist(),
            "monomials": None
            if len(basis_rows)
            else columns[:, None].tolist()
            if isinstance(surface.kernel, LinearKernel)
            else [columns[list(m)].tolist() for m, _ in _features(surface.kernel, len(columns))],
            "basis_rows": basis_rows.tolist(),
            "intercept": surface.intercept,
            "boundary": surface.boundary,
            "is_round": self.is_round,
            "shares": self.feature_shares(node, len(self.mean)).tolist(),
            "terms": None
            if terms is None
            else [{"columns": list(product), "coefficient": weight} for product, weight in terms.items()],
        }

    @classmethod
    def collect(
        cls,
        is_split: np.ndarray,
        kernels: Sequence[Kernel],
        kernel: np.ndarray,
        columns: Sequence[np.ndarray],
        shares: Sequence[np.ndarray],
        coefficients: Sequence[np.ndarray],
        bases: Sequence[np.ndarray],
        Z: np.ndarray,
        intercept: np.ndarray,
        boundary: np.ndarray,
        mean: np.ndarray,
        scale: np.ndarray,
        is_round: bool = False,
    ) -> Surfaces:
        """Build the record: one entry for each node that is split, `bases` being rows of Z."""
        used, basis_row = np.unique(_joined(bases, np.int64), return_inverse=True)
        return cls(
            kernels=tuple(kernels),
            split=numbers(is_split),
            kernel=kernel.astype(np.int8),
            column_offset=offsets([len(part) for part in columns]),
            column=_joined(columns, np.int32),
            share=_joined(shares, np.float64),
            offset=offsets([len(part) for part in coefficients]),
            coefficient=_joined(coefficients, np.float64),
            basis_offset=offsets([len(part) for part in bases]),
            basis_row=basis_row.reshape(-1).astype(np.int32),
            basis=Z[used],
            intercept=intercept,
            boundary=boundary,
            mean=mean,
            scale=scale,
            is_round=is_round,
        )

    def take(self, nodes: np.ndarray, is_split: np.ndarray) -> Surfaces:
        kept = self.split[nodes[is_split]]
        rows = self.basis_row[entries(self.basis_offset, kept)]
        used, basis_row = np.unique(rows, return_inverse=True)
        of_columns = entries(self.column_offset, kept)
        return replace(
            self,
            split=numbers(is_split),
            kernel=self.kernel[kept],
            column_offset=offsets(np.diff(self.column_offset)[kept]),
            column=self.column[of_columns],
            share=self.share[of_columns],
            offset=offsets(np.diff(self.offset)[kept]),
            coefficient=self.coefficient[entries(self.offset, kept)],
            basis_offset=offsets(np.diff(self.basis_offset)[kept]),
            basis_row=basis_row.reshape(-1).astype(np.int32),
            basis=self.basis[used],
            intercept=self.intercept[kept],
            boundary=self.boundary[kept],
        )

    def prepare(self, X: np.ndarray) -> np.ndarray:
        if not self.mean.any() and (self.scale == 1).all():
            return X
        return (X - self.mean) / self.scale

    def route(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        return self.route_prepared(self.prepare(X), left)

    def route_prepared(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        if len(self.basis):
            return route_by_nodes(len(X), left, lambda rows, node: self._score(X[rows], node) < 0)
        table_of, table_offset, factor = self._tables
        leaf = np.empty(len(X), dtype=np.int32)
        route_surfaces(
            X, left, self.split, table_of, self.column_offset, self.column, self.offset, self.coefficient,
            self.intercept, self.boundary, table_offset, factor, leaf,
        )  # fmt: skip
        return leaf

    def settings(self) -> dict[str, Any]:
        return {"kernels": [kernel.to_dict() for kernel in self.kernels], "is_round": self.is_round}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Self:
        plain = settings.get("kernels")
        if not isinstance(plain, list) or not 0 < len(plain) <= MOST_KERNELS:
            raise ValueError("the surfaces have no list of kernels")
        kernels = tuple(Kernel.from_dict(kernel) for kernel in plain)
        if any(None in kernel.to_dict()["parameters"].values() for kernel in kernels):
            raise ValueError("a kernel of the surfaces has a parameter that was not learnt")
        is_round = check_flag("is_round", settings.get("is_round", False))
        return cls.of_arrays(arrays, kernels=kernels, is_round=is_round)

    def _check_meaning(self, is_split: np.ndarray) -> None:
        if not np.array_equal(self.split, numbers(is_split)):
            raise ValueError("the surfaces do not belong to the nodes that are split")
        if len(self.kernel) and self.kernel.max() >= len(self.kernels):
            raise ValueError("a surface has a kernel that is not there")
        n_columns, n_own, n_rows = (np.diff(o) for o in (self.column_offset, self.offset, self.basis_offset))
        for number, columns, own, rows in zip(self.kernel, n_columns, n_own, n_rows):
            if own != (rows or self.kernels[number].n_features(int(columns))):
                raise ValueError("a surface has not the coefficients that its kernel needs")
        are_planes = not n_rows.any() and all(map(is_linear, self.kernels))
        if self.is_round and not (are_planes and not self.mean.any() and (self.scale == 1).all()):
            raise ValueError("the surfaces are no hyperplanes of the covariates as they were given")
        if _is_any_twice(n_columns, self.column):
            raise ValueError("a surface has a covariate twice")
        if _is_any_twice(n_rows, self.basis_row):
            raise ValueError("a surface has a basis row twice")
        if not len(self.kernel):
            return
        # No group is empty: each split has covariates and coefficients.
        if (np.abs(np.add.reduceat(self.share, self.column_offset[:-1]) - 1.0) > ROUNDING).any():
            raise ValueError("the shares of a surface do not sum to 1")
        if not np.maximum.reduceat(np.abs(self.coefficient), self.offset[:-1]).all():
            raise ValueError("the coefficients of a surface are all 0")
        for node in np.flatnonzero(is_split)[n_rows > 0]:
            _check_kernel_values(self.surface(node))

    def _range(self, offset: np.ndarray, node: int) -> slice:
        split = self.split[node]
        return slice(offset[split], offset[split + 1])

    def _kernel_on(self, number: int, n_columns: int) -> Kernel:
        return self.kernels[number].narrowed(n_columns / len(self.mean))

    def _score(self, Z: np.ndarray, node: int) -> np.ndarray:
        """Score scaled rows, by the same arithmetic as `route_prepared`."""
        columns = self.columns(node)
        if len(self.basis_row[self._range(self.basis_offset, node)]):
            return self.surface(node).score(_take_columns(Z, columns))
        split, scores = self.split[node], np.empty(len(Z))
        table_of, table_offset, factor = self._tables
        first = table_offset[table_of[split]]
        coefficients = self.coefficient[self._range(self.offset, node)]
        fill_scores(
            Z, np.arange(len(Z), dtype=np.int32), columns, factor[first : first + len(coefficients)], coefficients,
            self.intercept[split], scores,
        )  # fmt: skip
        return snap(scores, float(self.boundary[split]))

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The monomials of all splits: which table each has, where tables begin, and their lines below each other."""
        sides = np.column_stack((self.kernel, np.diff(self.column_offset)))
        kinds, table_of = np.unique(sides, axis=0, return_inverse=True)
        tables = [MonomialTables.of(self.kernels[number], [m]) for number, m in kinds]
        factors = [table.factor for table in tables]
        degree = max((factor.shape[1] for factor in factors), default=1)
        padded = [np.pad(f, ((0, 0), (0, degree - f.shape[1])), constant_values=-1) for f in factors]
        factor = np.concatenate([np.empty((0, degree), np.int64), *padded])
        return table_of.reshape(-1), offsets([len(f) for f in factors]), factor


def _take_columns(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return some columns, which are all different; all of them in their order need no copy."""
    is_all = len(columns) == values.shape[1] and bool((np.diff(columns) > 0).all())
    return values if is_all else values[:, columns]


def _joined(parts: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)


def _is_any_twice(sizes: np.ndarray, values: np.ndarray) -> bool:
    """Tell whether a group holds a value more than once; the groups of these sizes lie one after the other."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    by_group = np.lexsort((values, group))
    group, values = group[by_group], values[by_group]
    return bool(((group[1:] == group[:-1]) & (values[1:] == values[:-1])).any())


def _check_kernel_values(surface: Surface) -> None:
    """Raise ValueError if the kernel is too large on the basis rows for sums of its values to be numbers."""
    with np.errstate(over="ignore"):
        largest = np.abs(surface.kernel.diagonal(surface.rows)).max()
    if not largest <= LARGEST_FACTOR * (1 + ROUNDING):
        raise ValueError(f"the kernel is larger than {LARGEST_FACTOR:g} on a basis row")
