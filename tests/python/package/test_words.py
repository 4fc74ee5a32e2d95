"""What stops, stops in words: errors that name the function, the line and the entry that are to blame."""

import inspect

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import agrad as ag

X = np.array([0.3, 0.7, 1.1])


def several_densities(scale):
    first = ag.normal_lpdf(0.5, 0.0, 1.0 + 0 * scale)
    second = ag.normal_lpdf(0.5, 0.0, scale)
    return first + second


LINE = inspect.getsourcelines(several_densities)[1] + 2


@pytest.mark.parametrize("transform", [lambda f: f, ag.grad, ag.value_and_grad, ag.hessian, ag.jacobian])
def test_domain_errors_of_compiled_functions_name_the_line(transform):
    compiled = ag.compile(transform(several_densities))
    compiled(1.0)
    for call in (lambda: compiled(-1.0), lambda: compiled(np.float64(-1.0))):
        with pytest.raises(ag.DomainError) as caught:
            call()
        message = str(caught.value)
        assert message.startswith("normal_lpdf: sigma is -1, but must be positive and finite, at ")
        assert f"test_words.py:{LINE}: second = " in message
    assert compiled(2.0) is not None


def test_domain_errors_of_bound_calls_and_products_name_the_line():
    x = np.ones(2)
    bound = ag.compile(lambda s: several_densities(s[0])).bind(x)
    x[0] = -1.0
    with pytest.raises(ag.DomainError, match=f"test_words.py:{LINE}"):
        bound()
    compiled = ag.compile(several_densities)
    compiled(1.0)
    with pytest.raises(ag.DomainError, match=f"test_words.py:{LINE}"):
        ag.jvp(compiled, (-1.0,), (1.0,))


def test_entries_of_matrices_have_two_indices():
    mu = np.zeros((2, 3))
    mu[1, 1] = np.nan
    for call in (
        lambda m: ag.normal_lpdf(np.zeros((2, 3)), m, 1.0),
        ag.grad(lambda m: ag.normal_lpdf(np.zeros((2, 3)), m, 1.0)),
    ):
        with pytest.raises(ag.DomainError, match=r"^normal_lpdf: mu\[1, 1\] is nan, but must be finite"):
            call(mu)
    compiled = ag.compile(lambda m: ag.normal_lpdf(np.zeros((2, 3)), m, 1.0))
    compiled(np.zeros((2, 3)))
    with pytest.raises(ag.DomainError, match=r"mu\[1, 1\] is nan"):
        compiled(mu)
    with pytest.raises(ag.DomainError, match=r"mu\[1\] is nan"):
        ag.normal_lpdf(np.zeros(2), np.array([0.0, np.nan]), 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: np.sum(scipy.stats.norm.logpdf(x)),
            r"scipy.stats.norm.logpdf: argument is .*; write agrad.stats.norm.logpdf",
        ),
        (lambda x: scipy.special.logsumexp(x), r"scipy.special.logsumexp: argument is .*; write agrad.special.logsumexp"),
        (lambda x: np.sum(scipy.linalg.solve(np.eye(3), x)), r"scipy.linalg.solve: argument is .*; write np.linalg.solve"),
        (lambda x: np.sum(scipy.linalg.expm(np.outer(x, x))), r"scipy.linalg.expm: argument is .*; write agrad.linalg.expm"),
    ],
)
@pytest.mark.parametrize("transform", [ag.grad, ag.compile])
def test_functions_of_scipy_are_named(call, message, transform):
    with pytest.raises(TypeError, match=message):
        transform(call)(X)


def test_errors_of_other_packages_that_have_nothing_to_do_with_recorded_values_are_their_own():
    with pytest.raises(ValueError, match="square"):
        ag.grad(lambda x: x * scipy.linalg.det(np.ones((2, 3))))(1.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x * 10**400,
            OverflowError,
            "multiply: argument is an int beyond 1.8e308, but must be in the range of float64",
        ),
        (lambda x: x ** (10**400), OverflowError, "pow: argument is an int beyond"),
        (lambda x: x < 10**400, OverflowError, "less: argument is an int beyond"),
        (lambda x: f"{x:.3f}", TypeError, "format: argument is a recorded value, but must be a plain number for '.3f'"),
        (lambda x: ag.log_sum_exp(x), TypeError, r"log_sum_exp: number of arguments is 1, .*; ag.special.logsumexp\(x\) is"),
    ],
)
def test_small_things(call, error, message):
    with pytest.raises(error, match=message):
        ag.grad(call)(1.0)


def test_integers_of_any_size_within_the_range_of_numbers():
    assert ag.grad(lambda x: x * 10**30 + x**2)(1.0) == 1e30 + 2
    assert ag.grad(lambda x: x ** (10**20) + 2 * x)(1.0) == 1e20 + 2


def test_recorded_values_and_transformations_have_names():
    shown = []
    ag.grad(lambda x: shown.append(f"{x}") or x)(1.0)
    assert shown == ["<recorded array of shape () in grad(<lambda>)>"]
    assert repr(ag.grad(several_densities)) == "<grad(several_densities)>"
    assert repr(ag.vmap(several_densities)) == "<vmap(several_densities)>"


def test_copies_of_entries_count_for_the_line_that_needs_them():
    def f(x):
        a = np.exp(x)
        b = a[::-1][np.array([0, 2, 1])]
        c = np.cumsum(b)
        return np.sum(c * c)

    line = inspect.getsourcelines(f)[1]
    (gather,) = [row for row in ag.compile(f).profile(np.ones(3)).rows if row.operation == "gather"]
    assert gather.line == line + 3


# ---- branches that a first row, or a first step, does not take -------------------------------------------------------

Z = np.array([1.0, 2.0, 3.0])


def test_branches_over_values_from_around_rows():
    rows = np.array([-1.0, 1.0, 2.0])

    def f(z):
        return np.sum(ag.vmap(lambda x: ag.cond(x > 0, lambda: x * z[0], lambda: x * z[1] ** 2))(rows))

    for transform in (ag.grad, lambda g: ag.compile(ag.grad(g)), ag.jacfwd):
        np.testing.assert_allclose(transform(f)(Z), [3.0, -4.0, 0.0])
    matrix = np.arange(6.0).reshape(3, 2)
    for transform in (lambda g: g, ag.compile):
        got = transform(ag.vmap(lambda row: ag.cond(row[0] > 1, lambda: np.sum(row), lambda: row[0] * 2)))(matrix)
        np.testing.assert_array_equal(got, [0.0, 5.0, 9.0])
    slopes = ag.vmap(ag.grad(lambda row: ag.cond(row[0] > 1, lambda: np.sum(row**2), lambda: row[0])))(matrix)
    np.testing.assert_array_equal(slopes, [[1.0, 0.0], [4.0, 6.0], [8.0, 10.0]])


def test_branches_in_loops_over_values_from_around_rows():
    def of_row(row):
        def step(c, x):
            return c + (row[0] * x if x > row[1] else row[1] * np.sort(row)[0]), None

        return ag.scan(step, 0.0, np.array([-1.0, 1.0, 3.0]))[0]

    rows = np.array([[2.0, 0.0], [2.0, 2.0], [3.0, 9.0], [1.0, -5.0]])
    expected = [sum(r[0] * x if x > r[1] else r[1] * min(r) for x in (-1.0, 1.0, 3.0)) for r in rows]
    np.testing.assert_allclose(ag.vmap(of_row)(rows), expected)
    np.testing.assert_allclose(ag.compile(ag.vmap(of_row))(rows), expected)


def test_arrays_made_like_values_from_around_are_filled_within():
    def f(z):
        def step(c, x):
            y = np.zeros(2, like=z)
            y[0] = c
            y[1:] = x * z[1]
            y += c
            return np.sum(y * y), None

        return ag.scan(step, z[0], np.ones(3))[0]

    def by_hand(z):
        c = z[0]
        for _ in range(3):
            c = (2 * c) ** 2 + (z[1] + c) ** 2
        return c

    for transform in (ag.grad, lambda g: ag.compile(ag.grad(g)), ag.jacfwd):
        np.testing.assert_allclose(transform(f)(Z[:2] * 0.1), ag.grad(by_hand)(Z[:2] * 0.1))

    def leaks(z):
        y = np.zeros(2, like=z)

        def step(c, x):
            y[0] = c
            return c + x, None

        return ag.scan(step, z[0], np.ones(3))[0] + y[0]

    with pytest.raises(ag.ScopeError):  # what a body writes into an array from around it is gone with the body
        ag.grad(leaks)(Z)


def test_copies_are_written_into_within_branches():
    def f(z):
        w = z * 2

        def branch():
            y = w.copy()
            y[0] = 2.0 * z[1]
            return np.sum(y * y)

        return ag.cond(z[0] > 0, lambda: np.sum(z), branch)

    compiled = ag.compile(ag.grad(f))
    np.testing.assert_array_equal(compiled(Z), np.ones(3))
    np.testing.assert_array_equal(compiled(-Z), [0.0, -32.0, -24.0])
