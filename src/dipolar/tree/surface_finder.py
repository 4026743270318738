"""Splits by the node SVM, on all covariates or on some that are drawn for each node."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dipolar._core.search import GIVEN, settle_nodes
from dipolar._core.surfaces import cut_surfaces, prepare_nodes, sample_rows, take_columns
from dipolar.kernels import is_precomputed
from dipolar.node_svm.factors import Surface, few_features
from dipolar.node_svm.interior_point import suits_blas
from dipolar.node_svm.learning import NO_LIMITS, Inherited, LearntSvm, check_svm, learn, spread
from dipolar.node_svm.search import STATUSES, SplitStatus, Starts, starting_cuts
from dipolar.node_svm.spans import Span
from dipolar.node_svm.svm import DipoleSVM
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.tree.drawing import draw_orders
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.rounding import round_plane
from dipolar.tree.surfaces import MOST_KERNELS, MonomialTables, Surfaces, is_linear, surface_shares

__all__ = ["SurfaceFinder", "SurfaceSplitter", "warn_about_unconverged"]

HAS_SURFACE = np.array([status.has_surface for status in STATUSES])
WANTS_ANOTHER = np.array([status.wants_another_solver for status in STATUSES])

# While there are more covariates than this, half of them are dropped at a time.
DROPPED_ONE_BY_ONE = 16

# Numbers that the features of nodes may take in one call (256 MB).
BLOCK_SIZE = 32_000_000


@dataclass(frozen=True)
class SurfaceSplitter:
    """How the nodes of a tree are split along surfaces."""

    svms: tuple[DipoleSVM, ...]  # one of which is drawn for each node
    max_features: int  # covariates that vary in a node and are used there
    max_rows: float = np.inf  # of a node, from which its surface is learnt
    inherit: float = 0.0  # standard deviation of the parent's score as a feature of its children
    max_terms: float = np.inf  # covariates that a surface uses in the end
    tells_shares: bool = True  # whether each covariate's share of a gain is wanted
    root_cutoffs: bool = False  # whether the time gaps that bound dipoles are those of the root

    @property
    def events_first(self) -> bool:
        """Whether events come first among rows of equal times."""
        return self.svms[0].cutoff_rule == "text"

    @property
    def sizes(self) -> list[int]:
        """With how many covariates the surface of a node is found, one time after the other."""
        sizes = [self.max_features]
        while sizes[-1] > self.max_terms:
            sizes.append(max(int(self.max_terms), min(sizes[-1] - 1, max(sizes[-1] // 2, DROPPED_ONE_BY_ONE))))
        return sizes

    def check(self) -> None:
        """Refuse machines that cannot split the nodes of a tree."""
        if len(self.svms) > MOST_KERNELS:
            raise ValueError(f"svm must list at most {MOST_KERNELS} machines, got {len(self.svms)}.")
        for svm in self.svms:
            check_svm(svm)
            if is_precomputed(svm.kernel):
                raise ValueError(
                    "kernel='precomputed' is not for trees, which are grown on parts and resamples of the rows. Pass "
                    "the kernel as a function, or split a single node with DipoleSVM."
                )
        for name in ("cutoff_rule", "standardize"):
            values = sorted({getattr(svm, name) for svm in self.svms})
            if len(values) > 1:
                raise ValueError(f"The machines in svm must agree in {name}, got {values}. Give all of them one value.")

    def prepare(self, rows: TrainingRows, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return what the machines learn from all rows, and the covariates as they want them."""
        svms = tuple(learn(svm, rows, rng, root_cutoffs=self.root_cutoffs) for svm in self.svms)
        Z = np.ascontiguousarray(svms[0].scaled_rows(rows))
        if self.max_terms < self.max_features:
            return svms, Z, rows.X
        span = spread(svms, Z) if self.max_features == Z.shape[1] else None
        return (svms, Z) if span is None else (svms, span.coordinates, None, span)

    def finder(
        self, survival: Survival, weight: np.ndarray, limits: GrowthLimits, rng: np.random.Generator, *prepared: Any
    ) -> SurfaceFinder:
        """Return the finder of the tree of one sample."""
        Z = prepared[1]
        if self.max_features > Z.shape[1]:  # coordinates of wide rows, all of which are used
            return SurfaceFinder(replace(self, max_features=Z.shape[1]), survival, weight, limits, rng, *prepared)
        return SurfaceFinder(self, survival, weight, limits, rng, *prepared)


class _Machine:
    """One of the machines on the rows of a tree."""

    def __init__(self, svm: LearntSvm, n_features: int, splitter: SurfaceSplitter) -> None:
        self.svm, self.n_features, self._splitter = svm, n_features, splitter

    def on(self, n_columns: int) -> LearntSvm:
        """Return the machine with its kernel on so many of the covariates."""
        return replace(self.svm, kernel=self.svm.kernel.narrowed(n_columns / self.n_features))

    @cached_property
    def tables(self) -> MonomialTables:
        """The explicit features of the kernel on any number of columns that a node may have."""
        most = self._splitter.max_features
        sizes = self._splitter.sizes if most == self.n_features else range(1, most + 1)
        return MonomialTables.of(self.svm.kernel, sizes)

    def suit_compiled_code(self, n_rows: np.ndarray, n_columns: np.ndarray) -> np.ndarray:
        """Tell for which nodes compiled code makes the features itself and solves the problem."""
        n_features = self.tables.size_of[n_columns]
        is_explicit = (n_features > 0) & few_features(n_features, n_rows)
        return is_explicit & ~suits_blas(n_rows, n_features) & (self.svm.solver == "interior_point")


class _Found(NamedTuple):
    """Surfaces of some nodes, in tables that are wide enough for all of them."""

    machine: np.ndarray  # (n_nodes,) number of the machine
    n_columns: np.ndarray  # (n_nodes,)
    column: np.ndarray  # (n_nodes, max_features)
    n_own: np.ndarray  # (n_nodes,) number of coefficients; -1 where the surface is one of a basis of rows
    coefficient: np.ndarray  # (n_nodes, max_coefficients)
    intercept: np.ndarray  # (n_nodes,)
    boundary: np.ndarray  # (n_nodes,)
    share: np.ndarray  # (n_nodes, max_features)
    logrank: np.ndarray  # (n_nodes,)


class SurfaceFinder:
    """Finds the surfaces of one tree.

    Parameters
    ----------
    splitter : SurfaceSplitter
    survival, weight : Survival, ndarray
        Outcomes of all rows, in dipole order, and how often each row is in the sample.
    limits : GrowthLimits
    rng : Generator
        Draws covariates, machine and, in large nodes, the rows of each surface.
    svms, Z : tuple of LearntSvm, ndarray
        The machines, and the covariates of all rows as they want them.
    X : ndarray, default=None
        The covariates as they were given, where surfaces are narrowed: hyperplanes are then rounded in their units.
    span : Span, default=None
        The covariates of wide rows, whose coordinates Z then is: surfaces are found in these, and told in those.
    """

    def __init__(
        self,
        splitter: SurfaceSplitter,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
        svms: tuple[LearntSvm, ...],
        Z: np.ndarray,
        X: np.ndarray | None = None,
        span: Span | None = None,
    ) -> None:
        self.orders = np.flatnonzero(weight).astype(np.int32).reshape(1, -1)
        self.goes_left = np.zeros(len(weight), dtype=bool)
        self.ends = np.zeros(len(STATUSES), np.int64)
        self._splitter, self._rng = splitter, rng
        self._Z, self._span = Z, span
        self._machines = [_Machine(svm, Z.shape[1], splitter) for svm in svms]
        are_planes = all(is_linear(svm.kernel) and svm.kernel.n_features(splitter.sizes[-1]) for svm in svms)
        self._X = X if are_planes else None
        self._survival, self._weight = survival, weight
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._carried = np.zeros(len(weight) if splitter.inherit > 0 else 0)
        self._widest = max(machine.tables.widest for machine in self._machines)
        self._found: list[_Found] = []
        self._n_found = 0
        self._rows_of: list[np.ndarray] = []  # of each find, where rows are wide
        self._bases: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # rows and coefficients, by number of the find

    @property
    def n_unconverged(self) -> int:
        """In how many nodes no problem was solved to its tolerance."""
        return int(self.ends[STATUSES.index(SplitStatus.UNCONVERGED)])

    def find(self, start: np.ndarray, stop: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_nodes, splitter, machines = len(start), self._splitter, self._machines
        found = self._room(n_nodes)
        drawn = draw_orders(n_nodes, self._Z.shape[1], splitter.max_features, self._rng)
        found.machine[:] = self._rng.integers(len(machines), size=n_nodes) if len(machines) > 1 else 0
        first = self._rng.random(n_nodes) if splitter.max_rows < np.inf else np.zeros(n_nodes)
        rows, row_offset = self._sample(start, stop, first)
        self._take_columns(drawn, rows, row_offset, found)
        for size in splitter.sizes:
            found = found if size == splitter.max_features else self._narrow(found, size)
            limits = self._limits if size == splitter.sizes[-1] else NO_LIMITS
            for number, machine in enumerate(machines):
                of_machine = np.flatnonzero((found.machine == number) & (found.n_columns > 0))
                self._find_by(machine, of_machine, found, start, stop, parent, rows, row_offset, limits)
        if self._X is not None:
            for node in np.flatnonzero(found.logrank > 0):
                self._round(found, int(node), self.orders[0, start[node] : stop[node]], self._X)
        if self._span is not None:
            self._rows_of += [np.sort(self.orders[0, begin:end]) for begin, end in zip(start, stop)]
        self._found.append(found)
        self._n_found += n_nodes
        return found.logrank, found.logrank

    def _narrow(self, found: _Found, size: int) -> _Found:
        """Return room for surfaces of so many of the most influential covariates of those that were found."""
        narrow = self._room(len(found.machine))
        narrow.machine[:] = found.machine
        for node in np.flatnonzero(found.logrank > 0):
            columns, share = (values[node, : found.n_columns[node]] for values in (found.column, found.share))
            kept = np.sort(columns[np.argsort(-share, kind="stable")[:size]])
            narrow.column[node, : len(kept)], narrow.n_columns[node] = kept, len(kept)
        for number in range(self._n_found, self._n_found + len(found.machine)):
            self._bases.pop(number, None)
        return narrow

    def _round(self, found: _Found, node: int, rows: np.ndarray, X: np.ndarray) -> None:
        """Put a hyperplane in round numbers of the covariates as they were given, if doubles can tell its sides."""
        m = int(found.n_columns[node])
        columns, svm = found.column[node, :m], self._machines[0].svm
        slopes = found.coefficient[node, :m] / svm.scale[columns]
        plane = round_plane(X[rows][:, columns], self.goes_left[rows], slopes)
        if plane is None:
            found.logrank[node] = 0.0
            return
        found.coefficient[node, :m], found.share[node, :m] = plane.coefficients, plane.shares
        found.intercept[node], found.boundary[node] = -plane.threshold, -plane.tolerance

    def freeze(self, found: np.ndarray) -> Surfaces:
        kept = found[found >= 0]
        every = _Found(*(np.concatenate(parts)[kept] for parts in zip(self._room(0), *self._found)))
        none = np.empty(0, np.int64), np.empty(0)
        bases = [self._bases.get(int(number), none) for number in kept]
        svm = self._machines[0].svm
        columns = [column[:n] for column, n in zip(every.column, every.n_columns)]
        shares = [share[:n] for share, n in zip(every.share, every.n_columns)]
        coefficients = [own[:n] if n >= 0 else base[1] for own, n, base in zip(every.coefficient, every.n_own, bases)]
        if self._span is not None:
            columns = [np.arange(len(svm.mean), dtype=np.int32)] * len(kept)
            coefficients, shares = self._spread_out(self._span, kept, every.machine, coefficients, bases)
        return Surfaces.collect(
            found >= 0,
            [machine.svm.kernel for machine in self._machines],
            every.machine,
            columns=columns,
            shares=shares,
            coefficients=coefficients,
            bases=[base[0] for base in bases],
            Z=self._Z if self._span is None else self._span.rows,
            intercept=every.intercept,
            boundary=every.boundary,
            mean=svm.mean if self._X is None else np.zeros_like(svm.mean),
            scale=svm.scale if self._X is None else np.ones_like(svm.scale),
            is_round=self._X is not None,
        )

    def _spread_out(
        self,
        span: Span,
        kept: np.ndarray,
        machine: np.ndarray,
        coefficients: list[np.ndarray],
        bases: list[tuple[np.ndarray, np.ndarray]],
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return coefficients and shares of surfaces over the covariates, given those over coordinates."""
        are_planes = [k for k in range(len(kept)) if not len(bases[k][0])]
        if are_planes:  # of all of them in one product
            normals = span.normals(np.column_stack([coefficients[k] for k in are_planes])).T
            for k, normal in zip(are_planes, normals):
                coefficients[k] = normal
        shares = []
        for k, number in enumerate(kept):
            kernel, basis = self._machines[int(machine[k])].svm.kernel, bases[k][0]
            surface = Surface(kernel, span.rows[basis], coefficients[k], 0.0)
            shares.append(surface_shares(surface, span.rows[self._rows_of[int(number)]]))
        return coefficients, shares

    def _room(self, n_nodes: int) -> _Found:
        m = self._splitter.max_features
        return _Found(
            machine=np.zeros(n_nodes, np.int64),
            n_columns=np.zeros(n_nodes, np.int64),
            column=np.zeros((n_nodes, m), np.int32),
            n_own=np.full(n_nodes, -1, np.int64),
            coefficient=np.zeros((n_nodes, self._widest)),
            intercept=np.zeros(n_nodes),
            boundary=np.zeros(n_nodes),
            share=np.zeros((n_nodes, m)),
            logrank=np.zeros(n_nodes),
        )

    def _sample(self, start: np.ndarray, stop: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that the surface of each node is learnt from, and where those of each node begin."""
        if self._splitter.max_rows == np.inf and len(start) == 1:
            return self.orders[0, start[0] : stop[0]], np.array([0, stop[0] - start[0]])
        most = int(min(self._splitter.max_rows, np.iinfo(np.int64).max // 2))
        rows, offset = np.empty(int((stop - start).sum()), np.int32), np.empty(len(start) + 1, np.int64)
        sample_rows(self.orders[0], start, stop, first, most, offset, rows)
        return rows, offset

    def _take_columns(self, drawn: np.ndarray, rows: np.ndarray, row_offset: np.ndarray, found: _Found) -> None:
        """Choose the covariates of each node: all of them, or those drawn first that vary in it."""
        n_features = self._Z.shape[1]
        if self._splitter.max_features == n_features:
            found.column[:], found.n_columns[:] = np.arange(n_features), n_features
        else:
            take_columns(self._Z, rows, row_offset, drawn, self._splitter.max_features, found.column, found.n_columns)

    def _find_by(
        self,
        machine: _Machine,
        nodes: np.ndarray,
        found: _Found,
        start: np.ndarray,
        stop: np.ndarray,
        parent: np.ndarray,
        rows: np.ndarray,
        row_offset: np.ndarray,
        limits: np.ndarray,
    ) -> None:
        """Find the surfaces of some nodes by one machine: in one call, as far as compiled code can."""
        sizes = row_offset[nodes + 1] - row_offset[nodes]
        fits = machine.suit_compiled_code(sizes, found.n_columns[nodes])
        for part in _blocks(nodes[fits], sizes[fits], self._widest + 1):
            self._find_together(machine, part, found, start, stop, parent, rows, row_offset, limits)
        for node, size in zip(nodes[~fits], sizes[~fits]):
            begin = row_offset[node]
            self._find_alone(machine, int(node), found, start, stop, parent, rows[begin : begin + size], limits)

    def _find_together(
        self,
        machine: _Machine,
        nodes: np.ndarray,
        found: _Found,
        start: np.ndarray,
        stop: np.ndarray,
        parent: np.ndarray,
        rows: np.ndarray,
        row_offset: np.ndarray,
        limits: np.ndarray,
    ) -> None:
        """Find the surfaces of nodes in compiled code; one with a problem that it cannot solve is looked at alone."""
        svm, tables, inherit = machine.svm, machine.tables, self._splitter.inherit
        is_child = bool(inherit > 0 and parent[nodes[0]] >= 0)  # nodes that are asked for together are of one level
        is_all = len(nodes) == len(found.machine)
        chosen = found if is_all else _Found(*(values[nodes] for values in found))
        own, own_offset = _gather_slices(rows, row_offset, nodes)
        ranks = tables.size_of[chosen.n_columns] + is_child
        sizes = np.diff(own_offset)
        feature_offset = np.concatenate(([0], np.cumsum(ranks * sizes)))
        features, centre = np.empty(feature_offset[-1]), np.zeros((len(nodes), self._widest + 2))
        scores, weights = np.empty(len(own)), np.zeros((len(nodes), self._widest + 1))
        spread = inherit if is_child else 0.0
        prepare_nodes(
            self._Z, own, own_offset, chosen.column, chosen.n_columns, tables.start_of, tables.size_of, tables.factor,
            tables.size, self._carried, spread, feature_offset, features, centre, scores,
        )  # fmt: skip
        starts, cut_offset = self._starting_cuts(svm, own, own_offset, chosen, is_child)
        rules = svm.rules._replace(init=GIVEN) if is_child else svm.rules
        path = np.empty((len(nodes), rules.max_reorientations + 1))
        status, n_solved = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)
        time, event = self._survival.time, self._survival.event
        settle_nodes(
            time, event, self._weight, own, own_offset, features, feature_offset, ranks, self._Z, *starts,
            cut_offset, rules, weights, scores, path, status, n_solved, chosen.intercept, np.empty(len(nodes)),
        )  # fmt: skip
        parent_coefficient, parent_intercept = self._parents(parent[nodes], is_child)
        cut_surfaces(
            self._Z, self.orders[0], start[nodes], stop[nodes], time, event, self._weight, limits,
            True if svm.by_logrank else None, svm.tolerance, HAS_SURFACE[status], chosen.column, chosen.n_columns,
            tables.start_of, tables.size_of, tables.factor, tables.size, centre, weights, is_child, parent_coefficient,
            parent_intercept, inherit > 0, self._carried, self.goes_left, chosen.coefficient, chosen.intercept,
            chosen.boundary, chosen.share, chosen.logrank,
        )  # fmt: skip
        if not is_all:
            for values, of_nodes in zip(found, chosen):
                values[nodes] = of_nodes
        found.n_own[nodes] = tables.size_of[chosen.n_columns]
        unsolved = WANTS_ANOTHER[status]
        self.ends += np.bincount(status[~unsolved], minlength=len(STATUSES))
        for number in np.flatnonzero(unsolved):
            node = int(nodes[number])
            self._find_alone(
                machine, node, found, start, stop, parent, own[own_offset[number] : own_offset[number + 1]], limits
            )

    def _find_alone(
        self,
        machine: _Machine,
        node: int,
        found: _Found,
        start: np.ndarray,
        stop: np.ndarray,
        parent: np.ndarray,
        rows: np.ndarray,
        limits: np.ndarray,
    ) -> None:
        """Find the surface of one node, whatever its kernel, size and solver."""
        columns, inherit = found.column[node, : found.n_columns[node]], self._splitter.inherit
        svm = machine.on(len(columns))
        survival, weight = self._survival, self._weight
        inherited = Inherited.of(self._carried[rows], inherit) if inherit > 0 and parent[node] >= 0 else None
        Z = self._cells(rows, columns)
        every = self.orders[0, start[node] : stop[node]]
        # Drawn or kept covariates may be more than the rows as well.
        span = spread([svm], Z) if inherited is None and self._span is None and len(every) == len(rows) else None
        near = Z if span is None else span.coordinates
        split = svm.split(near, survival.take(rows), weight[rows], self._rng, inherited=inherited)
        self.ends[STATUSES.index(split.settled.status)] += 1
        found.logrank[node] = 0.0
        if not split.settled.status.has_surface:
            return
        surface, basis = split.surface, rows[split.factor.basis]
        if inherited is not None:
            worth = split.settled.weights[-1] * inherited.factor
            surface, basis = self._add_parent(surface, basis, int(parent[node]), worth, inherited.mean, columns)
        if len(every) > len(rows):
            Z = near = self._cells(every, columns)
        surface, scores, found.logrank[node] = svm.cut(surface, near, survival.take(every), weight[every], limits)
        surface = surface if span is None else span.restore(surface, split.factor.basis)
        goes_left = scores < 0.0
        if surface.is_flat or goes_left.all() or not goes_left.any():
            found.logrank[node] = 0.0
        self.goes_left[every] = goes_left
        found.boundary[node] = surface.boundary
        if inherit > 0:
            self._carried[every] = scores
        found.intercept[node] = surface.intercept
        if len(surface.rows):
            found.n_own[node] = -1
            self._bases[self._n_found + node] = basis, surface.coefficients
        else:
            found.n_own[node] = len(surface.coefficients)
            found.coefficient[node, : len(surface.coefficients)] = surface.coefficients * machine.tables.sizes(
                len(columns)
            )
        if not self._splitter.tells_shares:
            found.share[node, : len(columns)] = 1.0 / len(columns)
        elif found.logrank[node] > 0.0 and self._span is None:
            found.share[node, : len(columns)] = surface_shares(surface, Z)

    def _cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return some rows and columns, laid out by columns: first rows, unless most columns would be for nothing."""
        if 2 * len(columns) < self._Z.shape[1]:
            return np.asfortranarray(self._Z[rows[:, None], columns])
        return self._Z[rows][:, columns]

    def _add_parent(
        self, surface: Surface, basis: np.ndarray, parent: int, worth: float, mean: float, columns: np.ndarray
    ) -> tuple[Surface, np.ndarray]:
        """Add a parent's surface to that of its child, as often as it is worth."""
        table, line = self._at(parent)
        intercept = surface.intercept + worth * (table.intercept[line] - mean)
        if parent not in self._bases:
            n_own = table.n_own[line]
            size = self._machines[int(table.machine[line])].tables.sizes(len(columns))
            coefficients = surface.coefficients + worth * table.coefficient[line, :n_own] / size
            return replace(surface, coefficients=coefficients, intercept=float(intercept)), basis
        more, added = self._bases[parent]
        basis, place = np.unique(np.concatenate((basis, more)), return_inverse=True)
        coefficients = np.bincount(place, np.concatenate((surface.coefficients, worth * added)), len(basis))
        return Surface(surface.kernel, self._Z[basis][:, columns], coefficients, float(intercept)), basis

    def _at(self, number: int) -> tuple[_Found, int]:
        """Return the table that holds the find with this number, and its line there."""
        for table in self._found:
            if number < len(table.machine):
                return table, number
            number -= len(table.machine)
        raise AssertionError("finds are numbered in the order of all calls")

    def _parents(self, parent: np.ndarray, is_child: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts of the parents' surfaces."""
        coefficient, intercept = np.zeros((len(parent), self._widest)), np.zeros(len(parent))
        if is_child:
            for k, number in enumerate(parent):
                table, line = self._at(int(number))
                coefficient[k], intercept[k] = table.coefficient[line], table.intercept[line]
        return coefficient, intercept

    def _starting_cuts(
        self, svm: LearntSvm, rows: np.ndarray, row_offset: np.ndarray, nodes: _Found, is_child: bool
    ) -> tuple[Starts, np.ndarray]:
        """Return the univariate cuts that the searches in some nodes start from, and where those of each node begin."""
        n_nodes = len(row_offset) - 1
        if is_child or not svm.starts_from_cuts:
            return Starts(), np.zeros(n_nodes + 1, np.int64)
        every = []
        for k in range(n_nodes):
            own, columns = rows[row_offset[k] : row_offset[k + 1]], nodes.column[k, : nodes.n_columns[k]]
            Z, survival, weight = self._Z[own][:, columns], self._survival.take(own), self._weight[own]
            starts = starting_cuts(Z, survival, weight, svm.rules, self._rng)
            starts.cuts[:, 0] = columns[starts.cuts[:, 0].astype(np.int64)]
            every.append(starts)
        offset = np.concatenate(([0], np.cumsum([len(starts.cuts) for starts in every])))
        return Starts(*(np.concatenate(parts) for parts in zip(*every))), offset


def _gather_slices(values: np.ndarray, offset: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slices `values[offset[k]:offset[k + 1]]` of the chosen k one after the other, and where they begin."""
    if len(chosen) == len(offset) - 1:
        return values, offset
    parts = [values[offset[k] : offset[k + 1]] for k in chosen]
    return np.concatenate(parts), np.concatenate(([0], np.cumsum([len(part) for part in parts])))


def _blocks(nodes: np.ndarray, sizes: np.ndarray, width: int) -> list[np.ndarray]:
    """Part nodes so that the features of each part, `width` for each of their rows, take a bounded amount of memory."""
    if not len(nodes):
        return []
    part = np.cumsum(sizes * width) // BLOCK_SIZE
    return np.split(nodes, np.flatnonzero(np.diff(part)) + 1)


def warn_about_unconverged(n_unconverged: int, where: str, stacklevel: int) -> None:
    """Warn if there are nodes that were left alone because their problem was not solved."""
    if n_unconverged:
        warnings.warn(
            f"{n_unconverged} nodes of {where} were not split because their problem was not solved to the tolerance of "
            "the machine. Scale the covariates (standardize=True), lower kappa, or raise solver_tol.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
