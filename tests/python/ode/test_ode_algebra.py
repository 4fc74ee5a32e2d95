"""Linear algebra of the implicit methods: every choice gives the same solution and gradient, and wrong ones are refused."""

import numpy as np
import pytest
import scipy.sparse

import agrad as ag
from gradient_problems import PROBLEMS, REFERENCES

CELLS = 10
STATES = 2 * CELLS
RATES = np.linspace(2.5, 3.5, CELLS)
START = np.linspace(0.8, 1.2, STATES)


def brusselator(t, y, p):
    """Cells in a row; df/dy has the half-bandwidths (2, 2)."""
    u, v = y[0::2], y[1::2]
    left = np.concatenate([np.ones(1), u[:-1]])
    right = np.concatenate([u[1:], np.ones(1)])
    below = np.concatenate([3 * np.ones(1), v[:-1]])
    above = np.concatenate([v[1:], 3 * np.ones(1)])
    du = 1 + u * u * v - (p + 1) * u + 20 * (left - 2 * u + right)
    dv = p * u - u * u * v + 20 * (below - 2 * v + above)
    return np.stack([du, dv], 1).reshape(-1)


def band(lower, upper, n=STATES):
    return np.tri(n, k=upper) - np.tri(n, k=-lower - 1)


def gradient(method, tolerance=1e-8, **options):
    def loss(p, y0):
        y = ag.solve_ivp(brusselator, (0, 1), y0, method, [0.5, 1.0], args=(p,), rtol=tolerance, atol=tolerance, **options).y
        return np.sum(y**2 * np.linspace(1, 2, STATES)[:, None])

    return np.concatenate(ag.grad(loss, argnums=(0, 1))(RATES, START))


@pytest.mark.parametrize("method", ["Rodas4", "auto", "BDF", "Adams"])
def test_every_linear_solver_gives_the_same_gradient(method):
    tolerance = 1e-5 if method in ("BDF", "Adams") else 1e-9
    dense = gradient(method, linear_solver="dense")
    for solver in ("auto", "banded", "sparse"):
        np.testing.assert_allclose(gradient(method, linear_solver=solver), dense, rtol=tolerance, err_msg=solver)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
def test_gmres_solves_without_a_matrix(method):
    np.testing.assert_allclose(gradient(method, linear_solver="gmres"), gradient(method), rtol=1e-4)
    result = ag.solve_ivp(brusselator, (0, 1), START, method, args=(RATES,), linear_solver="gmres")
    assert result.njev == 0
    assert ag.solve_ivp(brusselator, (0, 1), START, method, args=(RATES,)).njev > 0


@pytest.mark.parametrize("solver", ["dense", "banded", "sparse", "gmres"])
def test_a_recorded_solve_without_its_gradient_has_the_same_values(solver):
    """Arguments are constants of such a solve, however many there are."""

    def end(p):
        many = np.concatenate([p, np.ones(1000)])
        y = ag.solve_ivp(
            lambda t, y, q: brusselator(t, y, q[:CELLS]), (0, 1), START, "BDF", args=(many,), linear_solver=solver
        ).y
        return y[:, -1]

    plain = ag.solve_ivp(brusselator, (0, 1), START, "BDF", args=(RATES,), rtol=1e-8, atol=1e-8).y[:, -1]
    np.testing.assert_allclose(end(RATES), plain, rtol=1e-4)
    np.testing.assert_allclose(ag.compile(end)(RATES), plain, rtol=1e-4)


def test_a_pattern_is_given_in_every_form_that_scipy_has():
    full = gradient("Rodas4", linear_solver="dense")
    pattern = band(2, 2)
    for form in (
        pattern,
        pattern.tolist(),
        pattern.astype(bool),
        scipy.sparse.csr_matrix(pattern),
        scipy.sparse.coo_array(pattern),
        scipy.sparse.csc_array(pattern),
        (2, 2),
        (3, 5),
        np.ones((STATES, STATES)),
        pattern - np.eye(STATES) * np.diag(pattern)[0] + np.eye(STATES),  # entries of any size
    ):
        np.testing.assert_allclose(gradient("Rodas4", jac_sparsity=form), full, rtol=1e-9)
        np.testing.assert_allclose(gradient("BDF", jac_sparsity=form, linear_solver="sparse"), gradient("BDF"), rtol=1e-5)


def test_a_pattern_without_the_diagonal_is_completed():
    def f(t, y):
        return [y[1], -y[0]]

    result = ag.solve_ivp(f, (0, 1), [1.0, 0.0], "Rodas4", jac_sparsity=[[0, 1], [1, 0]], linear_solver="sparse", rtol=1e-8)
    np.testing.assert_allclose(result.y[:, -1], [np.cos(1), -np.sin(1)], rtol=1e-6)


def test_an_arrow_is_solved_by_sparse_factors():
    def hub(t, y, p):
        centre = np.sin(t) - y[0] ** 2 + 0.1 * np.sum(y[1:])
        return np.concatenate([np.reshape(centre, (1,)), p * y[0] - 30 * (1 + 0.5 * np.cos(t)) * y[1:] ** 2])

    def loss(p, **options):
        y = ag.solve_ivp(hub, (0, 1), np.ones(41), "Rodas4", args=(p,), rtol=1e-7, **options).y
        return np.sum(y[:, -1] ** 2)

    p = np.linspace(0.5, 1.5, 40)
    dense = ag.grad(lambda p: loss(p, linear_solver="dense"))(p)
    for solver in ("sparse", "banded", "auto"):
        np.testing.assert_allclose(ag.grad(lambda p, s=solver: loss(p, linear_solver=s))(p), dense, rtol=1e-9)
    step = 1e-5 * np.eye(40)[3]
    difference = (loss(p + step) - loss(p - step)) / 2e-5
    assert abs(dense[3] / difference - 1) < 1e-4


def test_memory_makes_no_difference_to_the_bits():
    for solver in ("dense", "banded", "sparse"):
        kept, again = (gradient("Rodas4", linear_solver=solver, max_memory=bytes_) for bytes_ in (1e9, 1e4))
        assert np.array_equal(kept, again)


def test_a_right_hand_side_without_tangents_has_the_same_gradient():
    @ag.custom_vjp
    def rates(y):
        return np.asarray(y) ** 2

    rates.defvjp(lambda y: (rates(y), y), lambda y, a: (2 * np.asarray(y) * a,))

    def loss(p, f, **options):
        return np.sum(ag.solve_ivp(f, (0, 1), np.ones(12), "BDF", args=(p,), rtol=1e-9, atol=1e-9, **options).y[:, -1])

    p = np.linspace(0.5, 2, 12)
    plain = ag.grad(lambda p: loss(p, lambda t, y, p: -p * y**2))(p)
    for options in ({}, {"linear_solver": "sparse"}, {"jac_sparsity": np.eye(12)}, {"linear_solver": "gmres"}):
        by_hand = ag.grad(lambda p, o=options: loss(p, lambda t, y, p: -p * rates(y), **o))(p)
        np.testing.assert_allclose(by_hand, plain, rtol=1e-6)


def refused(**options):
    method = options.pop("method", "Rodas4")
    with pytest.raises((ValueError, TypeError)) as caught:
        ag.solve_ivp(brusselator, (0, 1), START, method, args=(RATES,), **options)
    return caught.type, str(caught.value)


def test_wrong_choices_are_refused_by_name():
    names = "'auto', 'dense', 'banded', 'sparse', 'gmres'"
    assert refused(linear_solver="lu") == (ValueError, f"solve_ivp: linear_solver is 'lu', but must be one of {names}")
    assert refused(linear_solver=None)[1] == f"solve_ivp: linear_solver is None, but must be one of {names}"
    assert refused(linear_solver="gmres")[1].startswith(
        "solve_ivp: linear_solver is 'gmres', but must be another one for 'Rodas4'; "
    )
    assert refused(linear_solver="gmres", method="auto")[1].startswith("solve_ivp: linear_solver is 'gmres'")
    for method in ("Tsit5", "RK45", "CKRK", "DOP853"):
        for options in ({"linear_solver": "banded"}, {"jac_sparsity": (2, 2)}):
            assert refused(method=method, **options)[1] == (
                f"solve_ivp: linear_solver or jac_sparsity is given, but must not be for {method!r}; "
                "the method solves no linear equations"
            )


@pytest.mark.parametrize("method", ["Rodas4", "BDF"])
def test_wrong_patterns_are_refused_by_name(method):
    def message(pattern, kind=ValueError):
        found, text = refused(jac_sparsity=pattern, method=method)
        assert issubclass(found, kind)
        return text

    hint = "(20, 20); a row and a column for each state, or a pair (lower, upper) of half-bandwidths"
    assert message(np.ones((3, 4)), ag.ShapeError) == f"solve_ivp: jac_sparsity is of shape (3, 4), but must be of shape {hint}"
    assert message([1, 2, 3], ag.ShapeError) == f"solve_ivp: jac_sparsity is of shape (3,), but must be of shape {hint}"
    assert message(scipy.sparse.eye(5), ag.ShapeError).startswith("solve_ivp: jac_sparsity is of shape (5, 5)")
    assert message(np.full((20, 20), "x"), TypeError).startswith("solve_ivp: jac_sparsity is of dtype <U1, but must be numbers")
    width = "but must be 0 or more and less than the number of states, 20"
    assert message((-1, 2), ag.DomainError) == f"solve_ivp: jac_sparsity is a half-bandwidth of -1, {width}"
    assert message((2, 20), ag.DomainError) == f"solve_ivp: jac_sparsity is a half-bandwidth of 20, {width}"
    assert message((2, 1), ag.DomainError).startswith(
        "solve_ivp: jac_sparsity is without the entry (0, 2), but must be with every entry of df/dy that is not zero; "
    )
    missing = band(2, 2)
    missing[7, 9] = 0
    assert "without the entry (7, 9)" in message(missing, ag.DomainError)


@pytest.mark.parametrize("method", ["BDF", "Rodas4", "Rodas5P"])
def test_an_entry_of_the_jacobian_that_is_zero_at_first_is_found(method):
    """The slope of y1 follows y0^2, whose derivative is zero at y0 = 0."""
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: jac_sparsity is without the entry \(1, 0\), .* df\[1\]/dy\[0\] is "):
        ag.solve_ivp(lambda t, y: [1 - y[0], 1e4 * (y[0] ** 2 - y[1])], (0.0, 1.0), [0.0, 0.0], method, jac_sparsity=np.eye(2))


def test_factors_are_counted():
    result = ag.solve_ivp(brusselator, (0, 1), START, "Rodas4", args=(RATES,), linear_solver="sparse")
    assert result.nlu >= result.nst > 0
    assert result.njev > 0


def test_gmres_takes_no_pattern():
    with pytest.raises(ValueError, match="solve_ivp: jac_sparsity is given, but must not be for 'gmres'"):
        ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0, 2.0], "BDF", jac_sparsity=(0, 0), linear_solver="gmres")


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7, 1e-8])
@pytest.mark.parametrize("linear_solver", ["dense", "banded", "sparse", "auto"])
def test_steps_from_a_checkpoint_are_the_same_each_time(linear_solver, rtol):
    """With the pivots of other matrices, CVODES took more steps than it had memory for, and the process crashed."""
    problem = PROBLEMS["POLLU"]

    def solve(fun, span, y0, method, times, **options):
        return ag.solve_ivp(fun, span, y0, "BDF", times, linear_solver=linear_solver, **options)

    gradient = ag.grad(problem.loss(solve, "", rtol))(problem.at)
    assert problem.error(gradient, REFERENCES["POLLU"]["gradient"]) < 100 * rtol


def test_a_sparse_gradient_does_not_depend_on_the_runs_before():
    problem = PROBLEMS["POLLU"]

    def solve(fun, span, y0, method, times, **options):
        return ag.solve_ivp(fun, span, y0, "BDF", times, linear_solver="sparse", **options)

    compiled = ag.compile(ag.value_and_grad(problem.loss(solve, "", 1e-6)))
    value, gradient = compiled(problem.at)
    compiled(problem.at * np.linspace(0.5, 2.0, problem.at.size))
    again, gradient_again = compiled(problem.at)
    assert again == value
    assert gradient_again.tolist() == gradient.tolist()
