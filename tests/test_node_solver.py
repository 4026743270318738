"""The node problem: certificates, optimality conditions, and the same optimum as OSQP and Clarabel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipolar._core import interior_point as core
from dipolar._core.certificate import middle_intercept
from dipolar._core.search import SearchRules, least_loss
from dipolar.node_svm import interior_point
from dipolar.node_svm.problem import NodeProblem, SolverStatus, node_criterion
from dipolar.node_svm.search import INITS, SplitStatus, Starts, settle, starting_cuts
from dipolar.node_svm.solvers import solve
from dipolar.quantiles import weighted_quantile
from tests.reference.node_problem import KERNELS, make_problem, solve_with_clarabel

ETAS = (-8, -6, -4, -2, 0, 2, 4, 6, 8)
CASES = [(seed, kernel, eta) for seed in range(5) for kernel in KERNELS for eta in ETAS]


def case(seed, kernel, eta):
    return make_problem(7 * seed + len(kernel), kernel, np.exp(eta))


def rules(problem, init="median", tol=0.0, max_reorientations=60):
    """The rules of a search on the dipoles of a problem."""
    return SearchRules(
        pure_quantile=0.25, mixed_quantile=0.75, pure_weight=1.0, is_scripts=False, pure_below=np.nan,
        mixed_from=np.nan, is_bounded=False, kappa=problem.kappa, per_dipole=False, margin=problem.margin,
        init=INITS[init], tol=tol, solver_tol=1e-6, max_reorientations=max_reorientations,
    )  # fmt: skip


def search(problem, X, weight, dipoles, init, solver="interior_point", **settings):
    """Search for the surface of the node, whose orientation is not used."""
    wanted = rules(problem, init, **settings)
    starts = starting_cuts(X, dipoles.survival, weight, wanted, np.random.default_rng(0))
    return settle(problem.features, dipoles.survival, weight, X, starts, wanted, solver)


def assert_optimal(problem, solution, tol):
    """Feasible dual, and conditions of Karush, Kuhn and Tucker up to the gap that the certificate allows."""
    assert solution.status is SolverStatus.OPTIMAL
    assert solution.relative_gap <= tol
    assert solution.dual <= solution.primal * (1 + 1e-12)

    net, scores, margin = solution.net, solution.scores, problem.margin
    upper, lower = problem.kappa * problem.upward, -problem.kappa * problem.downward
    slop = 1e-12 * max(upper.max(), -lower.min())
    assert np.all(net <= upper + slop)
    assert np.all(net >= lower - slop)
    assert abs(net.sum()) <= 1e-9 * np.abs(net).sum()
    np.testing.assert_allclose(scores, problem.features @ solution.weights + solution.intercept)

    # The gap is the sum of these non-negative terms, so each of them is bounded by it.
    gap = tol * solution.primal
    off = solution.weights - net @ problem.features
    assert 0.5 * off @ off <= gap
    clear_up, clear_down = scores > margin, scores < -margin
    assert (np.maximum(net, 0) * (scores - margin))[clear_up].sum() <= gap * (1 + 1e-6)
    assert (np.maximum(-net, 0) * (-scores - margin))[clear_down].sum() <= gap * (1 + 1e-6)
    inside = np.abs(scores) < margin
    both_sides = upper + lower
    assert (np.abs(net - both_sides) * np.minimum(margin - scores, margin + scores))[inside].sum() <= gap * (1 + 1e-6)


@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES)
def test_optimum_equals_clarabel_and_osqp(seed, kernel, eta, monkeypatch):
    problem, *_ = case(seed, kernel, eta)
    ours = solve(problem)
    assert_optimal(problem, ours, 1e-6)

    clarabel = solve_with_clarabel(problem)
    if clarabel is not None:
        assert ours.primal == pytest.approx(clarabel, rel=1e-6)
    monkeypatch.setattr("dipolar.node_svm.solvers.MAX_OSQP_STEPS", 10_000)
    osqp = solve(problem, "osqp", 1e-7)
    assert ours.primal <= osqp.primal * (1 + 1e-8)
    if osqp.relative_gap <= 1e-7:
        assert ours.primal == pytest.approx(osqp.primal, rel=1e-6)


def test_outside_solvers_converge_on_nearly_all_of_them(monkeypatch):
    """The comparison above is not empty: it skips what the others cannot solve, and that is little."""
    monkeypatch.setattr("dipolar.node_svm.solvers.MAX_OSQP_STEPS", 10_000)
    problems = [case(*each)[0] for each in CASES[::5]]
    clarabel = [solve_with_clarabel(problem) is not None for problem in problems]
    osqp = [solve(problem, "osqp", 1e-7).relative_gap <= 1e-7 for problem in problems]
    assert len(CASES) >= 200
    assert np.mean(clarabel) > 0.95
    assert np.mean(osqp) > 0.7


@pytest.mark.parametrize("by_blas", [False, True])
def test_corrector_does_not_go_in_circles(by_blas, monkeypatch):
    """A well-conditioned problem on which the textbook's corrector swings for ever between two gaps."""
    monkeypatch.setattr(interior_point, "suits_blas", lambda n, rank: by_blas)
    problem, *_ = make_problem(1001, "laplacian", np.exp(-2))
    solution = solve(problem)
    assert_optimal(problem, solution, 1e-6)
    assert solution.iterations < 15


@pytest.mark.parametrize("smallest", [1e-3, 1e-6, 1e-10, 1e-14])
@pytest.mark.parametrize("seed", range(4))
def test_costs_of_very_different_sizes(seed, smallest):
    problem, *_ = make_problem(seed, "linear", 1.0)
    factor = smallest ** np.random.RandomState(seed).uniform(size=len(problem.upward))
    problem = NodeProblem(problem.features, factor * problem.upward, factor * problem.downward, 1.0, problem.margin)
    solution = solve(problem)
    assert_optimal(problem, solution, 1e-6)
    assert solution.iterations < 25


@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize("price", [0.1, 1.0, 5.0])
def test_large_nodes_without_any_signal_are_solved(rank, price):
    """Pulls that have nothing to do with the features: all scores crowd at a kink, and the method has to be patient."""
    rng = np.random.RandomState(0)
    n = 10_000
    features = rng.normal(size=(n, rank))
    upward, downward = rng.uniform(size=(2, n)) * (rng.uniform(size=(2, n)) < 0.6)
    problem = NodeProblem(features - features.mean(axis=0), upward, downward, price / n, 1.0)
    assert_optimal(problem, solve(problem), 1e-6)


@pytest.mark.parametrize("init", ["hazard", "median", "quartile", "positive"])
@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES)
def test_criterion_never_increases(seed, kernel, eta, init):
    problem, X, weight, dipoles = case(seed, kernel, eta)
    settled = search(problem, X, weight, dipoles, init)
    assert np.all(np.diff(settled.criterion_path) <= 0)
    if kernel == "polynomial" and settled.status is SplitStatus.UNCONVERGED:
        # Cubes of unscaled covariates at the largest kappa are beyond double precision now and then; it is said so.
        assert 1e-6 < settled.relative_gap < 1e-4
        return
    assert settled.status.has_surface or settled.status is SplitStatus.NO_MIXED_DIPOLES
    if settled.status.has_surface:
        np.testing.assert_allclose(settled.scores, problem.features @ settled.weights + settled.intercept, atol=1e-9)
        assert settled.relative_gap <= 1e-6
    if settled.status is SplitStatus.SETTLED:
        # Solving once more for the orientation of the last surface finds nothing better.
        again = NodeProblem(problem.features, *dipoles.orient(settled.scores), problem.kappa, problem.margin)
        assert solve(again).primal >= settled.criterion_path[-1] * (1 - 1e-6)


def starting_problems(problem, X, weight, dipoles):
    """The node oriented by each cut of a covariate at a quartile."""
    cuts, _ = starting_cuts(X, dipoles.survival, weight, rules(problem, "quartile"), np.random.default_rng(0))
    pulls = (dipoles.orient(X[:, int(column)] - value) for column, value in cuts)
    return [NodeProblem(problem.features, *pull, problem.kappa, problem.margin) for pull in pulls]


@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES[::7])
def test_the_best_start_is_found_without_solving_all(seed, kernel, eta):
    node = case(seed, kernel, eta)
    problems = starting_problems(*node)
    optima = np.array([solve(problem).primal for problem in problems])
    settled = search(*node, "quartile", max_reorientations=0)
    assert settled.criterion_path[0] == pytest.approx(optima.min(), rel=1e-6)
    for problem, optimum in zip(problems, optima, strict=True):
        cost = np.concatenate((problem.upward, problem.downward))
        assert problem.kappa * problem.margin * least_loss(cost) <= optimum * (1 + 1e-12)


@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES[::7])
def test_the_median_with_the_smallest_criterion_is_the_start(seed, kernel, eta):
    problem, X, weight, dipoles = node = case(seed, kernel, eta)
    criteria, optima = [], []
    for column, value in enumerate(np.apply_along_axis(weighted_quantile, 0, X, weight, 0.5)):
        scores = X[:, int(column)] - value
        start = NodeProblem(problem.features, *dipoles.orient(scores), problem.kappa, problem.margin)
        criteria.append(node_criterion(start, np.ones(1), scores))
        optima.append(solve(start).primal)
    best = np.flatnonzero(np.isclose(criteria, min(criteria), rtol=1e-12))
    found = search(*node, "median", max_reorientations=0).criterion_path[0]
    assert any(found == pytest.approx(optima[k], rel=1e-6) for k in best)


@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES[::13])
def test_a_search_around_another_solver_is_the_same_search(seed, kernel, eta, monkeypatch):
    """Compiled or not, by the compiled solver or by that for large nodes: one search."""
    node = case(seed, kernel, eta)
    compiled = search(*node, "hazard", max_reorientations=0)
    monkeypatch.setattr("dipolar.node_svm.search.suits_blas", lambda n, rank: True)
    around = search(*node, "hazard", max_reorientations=0)
    assert around.status is compiled.status
    np.testing.assert_allclose(around.criterion_path, compiled.criterion_path, rtol=2e-6)


def orientations(seed, kernel, eta):
    """The same node under a dozen orientations."""
    problem, X, _, dipoles = case(seed, kernel, eta)
    noise = np.random.RandomState(seed).normal(size=(12, len(X)))
    starts = noise + np.arange(-2, 10)[:, None] * X[:, 0] / X.std()
    pulls = (dipoles.orient(scores) for scores in starts)
    return [NodeProblem(problem.features, *pull, problem.kappa, problem.margin) for pull in pulls]


@pytest.mark.parametrize("by_blas", [False, True])
@pytest.mark.parametrize(("seed", "kernel", "eta"), CASES[3::23])
def test_a_solve_is_given_up_with_a_proof_or_not_at_all(seed, kernel, eta, by_blas, monkeypatch):
    monkeypatch.setattr(interior_point, "suits_blas", lambda n, rank: by_blas)
    given_up = 0
    for problem in orientations(seed, kernel, eta):
        whole = solve(problem)
        for share in (0.5, 0.9, 0.999, 1.0, 1.001, 2.0):
            enough = share * whole.primal
            part = solve(problem, enough=enough)
            if part.status is SolverStatus.OPTIMAL:
                assert part.primal == pytest.approx(whole.primal, rel=1e-6)
            else:
                assert enough < part.dual <= whole.primal * (1 + 1e-9)
                assert part.iterations < whole.iterations
                given_up += 1
    assert given_up > 10


def test_compiled_loops_and_blas_agree(monkeypatch):
    for each in CASES[::11]:
        problem, *_ = case(*each)
        solutions = []
        for by_blas in (False, True):
            monkeypatch.setattr(interior_point, "suits_blas", lambda n, rank, by_blas=by_blas: by_blas)
            solutions.append(solve(problem))
        first, second = solutions
        assert first.primal == pytest.approx(second.primal, rel=1e-8)
        # The objective is strongly convex in w: a gap bounds the distance to the optimum.
        apart = sum(np.sqrt(2 * (each.primal - each.dual)) for each in solutions)
        assert np.linalg.norm(first.weights - second.weights) <= apart


def newton_system(seed, n, rank):
    """Lifted features, curvatures, a right side, and the system as a dense matrix."""
    rng = np.random.RandomState(seed)
    lifted = interior_point.lift(rng.normal(size=(n, rank)), 2.0)
    curvature = rng.uniform(0.1, 3.0, n)
    ridge = np.ones(len(lifted))
    ridge[0] = 0.0
    return lifted, curvature, rng.normal(size=len(lifted)), (lifted * curvature) @ lifted.T + np.diag(ridge)


@pytest.mark.compiled
@pytest.mark.parametrize(("n", "rank"), [(5, 1), (9, 3), (9, 4), (20, 7), (3, 12)])
def test_newton_systems_are_solved(n, rank):
    lifted, curvature, right, matrix = newton_system(rank, n, rank)
    size = len(lifted)
    assert size % 4 == 0
    found = np.empty((size, size))
    core.newton_matrix(lifted, curvature, found)
    np.testing.assert_allclose(np.tril(found), np.tril(matrix), rtol=1e-12, atol=1e-12)
    core.factorise(found, np.empty(size))
    solution = right.copy()
    core.substitute(found, solution)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-9)


@pytest.mark.parametrize("lapack_fails", [False, True])
def test_blas_solves_newton_systems_even_where_lapack_gives_up(lapack_fails, monkeypatch):
    lifted, curvature, right, matrix = newton_system(1, 20, 6)
    if lapack_fails:
        monkeypatch.setattr(interior_point, "dpotrf", lambda matrix, lower: (matrix, 1))
    solve_newton = interior_point.newton_solver(lifted, curvature, np.empty_like(lifted))
    np.testing.assert_allclose(matrix @ solve_newton(right.copy()), right, atol=1e-9)


def test_a_step_does_not_go_where_rounding_has_eaten_the_pivot():
    """Two equal features and a huge curvature: what tells them apart is lost, and so is nothing else."""
    feature = np.linspace(-1.0, 1.0, 8)
    lifted = interior_point.lift(np.column_stack((feature, feature)), 1.0)
    matrix = np.empty((4, 4))
    core.newton_matrix(lifted, np.full(8, 1e20), matrix)
    core.factorise(matrix, np.empty(4))
    direction = np.array([0.0, 1e20, 1e20, 0.0])
    core.substitute(matrix, direction)
    np.testing.assert_allclose(direction, [0.0, 0.0, 1.0 / (feature @ feature), 0.0], atol=1e-9)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_numbers_beyond_all_bounds_are_no_proof():
    features = np.linspace(-1e200, 1e200, 7)[:, None]
    solution = solve(NodeProblem(features, np.arange(7.0), np.arange(7.0)[::-1].copy(), 1e300, 1.0))
    assert solution.status is SolverStatus.INACCURATE
    assert solution.relative_gap > 0.1


def test_an_intercept_is_finite_however_light_one_side_is():
    scores = np.array([-0.5, 0.5])
    heavy, light = np.array([1.0, 1.0]), np.array([0.0, 1e-13])
    up = middle_intercept(scores, np.argsort(scores), heavy, light, 1.0)
    down = middle_intercept(scores, np.argsort(scores), light, heavy, 1.0)
    assert up == pytest.approx(1.5)  # the last kink of the heavy side
    assert np.isfinite(down)


def test_an_overflow_is_told_by_the_certificate(monkeypatch):
    def overflow(lifted, cost, tol, enough, pairs):
        return np.full(len(lifted), np.nan), 7

    problem, *_ = case(1, "linear", 0)
    monkeypatch.setattr(interior_point, "iterate_compiled", overflow)
    solution = solve(problem)
    assert solution.status is SolverStatus.INACCURATE
    assert 0.0 <= solution.dual < solve_with_clarabel(problem) <= solution.primal


def test_a_gap_that_is_too_large_is_told_and_true():
    """An ill-conditioned problem: whatever the status, the optimum lies between the two values of the certificate."""
    problem, X, _, dipoles = case(0, "polynomial", 6)
    problem = NodeProblem(problem.features, *dipoles.orient(np.zeros(len(X))), problem.kappa, problem.margin)
    solution = solve(problem, tol=1e-12)
    assert solution.status is SolverStatus.INACCURATE
    assert solution.dual <= solve_with_clarabel(problem) * (1 + 1e-9)
    assert solve_with_clarabel(problem) <= solution.primal * (1 + 1e-9)


def test_no_reorientation_solves_the_start_once():
    node = problem, X, _, dipoles = case(1, "linear", 0)
    settled = search(*node, "positive", max_reorientations=0)
    upward, downward = dipoles.orient(np.zeros(len(X)))
    expected = solve(NodeProblem(problem.features, upward, downward, problem.kappa, problem.margin))
    np.testing.assert_allclose(settled.scores, expected.scores, rtol=1e-9, atol=1e-12)
    assert settled.status is SplitStatus.SETTLED
    assert len(settled.criterion_path) == 1


def test_kappa_per_dipole_does_not_depend_on_their_number_or_on_the_size_of_features():
    """Every row twice, as two rows apart by next to nothing: the same surface, and twice the loss."""
    problem, X, weight, dipoles = case(1, "linear", 0)
    wanted = rules(problem, "positive", max_reorientations=0)._replace(per_dipole=True)
    no_cuts = Starts()
    once = settle(problem.features, dipoles.survival, weight, X, no_cuts, wanted)
    twice = settle(problem.features, dipoles.survival, 1000.0 * weight, X, no_cuts, wanted)
    np.testing.assert_allclose(twice.weights, once.weights, rtol=0.1)
    larger = settle(30.0 * problem.features, dipoles.survival, weight, X, no_cuts, wanted)
    np.testing.assert_allclose(larger.scores, once.scores, rtol=1e-4, atol=1e-6)
    total = sum(pull.sum() for pull in dipoles.orient(np.zeros(len(X))))
    mean = np.average(problem.features, axis=0, weights=weight)
    total *= np.average((problem.features - mean) ** 2, axis=0, weights=weight).sum()
    summed = settle(
        problem.features, dipoles.survival, weight, X, no_cuts,
        wanted._replace(per_dipole=False, kappa=problem.kappa / total),
    )  # fmt: skip
    np.testing.assert_allclose(once.weights, summed.weights, rtol=1e-9)


def test_only_kappa_over_margin_matters_to_the_direction():
    problem, *_ = case(2, "rbf", 1)
    wider = NodeProblem(problem.features, problem.upward, problem.downward, 3 * problem.kappa, 3 * problem.margin)
    np.testing.assert_allclose(solve(wider).scores, 3 * solve(problem).scores, rtol=1e-5, atol=1e-5)


DEGENERATE = [
    (np.ones(4), np.zeros(4), SolverStatus.ONE_SIDED, 1.0),
    (np.zeros(4), np.ones(4), SolverStatus.ONE_SIDED, -1.0),
    (np.zeros(4), np.zeros(4), SolverStatus.ONE_SIDED, 1.0),
]


@pytest.mark.parametrize(("upward", "downward", "status", "score"), DEGENERATE)
@pytest.mark.parametrize("solver", ["interior_point", "osqp"])
def test_one_sided_pulls_are_an_ordinary_result(upward, downward, status, score, solver):
    features = np.array([[-1.0], [0.0], [0.0], [1.0]])
    solution = solve(NodeProblem(features, upward, downward, 1.0, 1.0), solver)
    assert solution.status is status
    np.testing.assert_array_equal(solution.scores, np.full(4, score))
    assert solution.primal == solution.dual == 0.0


def test_constant_features_are_an_ordinary_result():
    problem = NodeProblem(np.zeros((3, 2)), np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), 2.0, 0.5)
    solution = solve(problem)
    assert solution.status is SolverStatus.CONSTANT
    assert solution.intercept == 0.5  # two pull up, one pulls down
    assert solution.primal == pytest.approx(2.0 * 1.0)
    assert solution.primal == pytest.approx(
        min(node_criterion(problem, np.zeros(2), np.full(3, b)) for b in (-1, 0, 1, 0.5))
    )


@pytest.mark.parametrize("kappa", [1e-12, 1e12])
def test_extreme_kappa(kappa):
    problem, *_ = make_problem(3, "linear", kappa)
    assert_optimal(problem, solve(problem), 1e-6)


@pytest.mark.compiled
@given(st.data())
def test_intercept_is_the_middle_of_the_best_ones(data):
    n = data.draw(st.integers(1, 6))
    whole = st.integers(0, 3).map(float)
    scores = np.array(data.draw(st.lists(st.sampled_from([-2.0, -0.5, 0.0, 1.0]), min_size=n, max_size=n)))
    upward = np.array(data.draw(st.lists(whole, min_size=n, max_size=n)))
    downward = np.array(data.draw(st.lists(whole, min_size=n, max_size=n)))
    upward[0] += 1.0
    downward[-1] += 1.0

    def loss(b):
        return upward @ np.maximum(0, 1 - scores - b) + downward @ np.maximum(0, 1 + scores + b)

    kinks = np.unique(np.concatenate((1 - scores[upward > 0], -1 - scores[downward > 0])))
    losses = np.array([loss(b) for b in kinks])
    best = kinks[losses <= losses.min() + 1e-9]
    found = middle_intercept(scores, np.argsort(scores), upward, downward, 1.0)
    assert found == pytest.approx(0.5 * (best[0] + best[-1]))
