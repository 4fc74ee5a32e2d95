"""Densities, masses and distribution functions against mpmath, in value and derivatives to second order, in every engine.

The points and tests of each function come from its row: conditions of the arguments, and one term as an expression of mpmath.
"""

import itertools
import operator
import random
import zlib

import mpmath
import numpy as np
import pytest

import agrad as ag
from probability_reference import ROWS, VALUES, derivative, reference

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

#: Tests of the conditions on two arguments together.
MEETS = {"less than": operator.lt, "at most": operator.lt}  # of points; equal ends are tested in test_between.py
DISCRETE = ("a whole number", "0 or 1")
POINTS = 6

each_function = pytest.mark.parametrize("name", list(ROWS))


def is_continuous(condition: str) -> bool:
    return not condition.startswith(DISCRETE)


def points(name: str) -> list[tuple[float, ...]]:
    """Return a few points in the support of a function at which mpmath has a finite value."""
    of, found = reference(name), []
    shifts = np.linspace(0.0, 0.0567, 6)  # so that no two arguments are equal, where some functions have a kink
    choices = list(
        itertools.product(
            *(
                [x + shift * is_continuous(condition) * (not condition.startswith("between")) for x in VALUES[condition]]
                for (_, condition), shift in zip(ROWS[name].arguments, shifts, strict=False)
            )
        )
    )
    choices = [x for x in choices if all(MEETS[must](x[i], x[j]) for i, must, j in ROWS[name].pairs)]
    random.Random(zlib.crc32(name.encode())).shuffle(choices)
    for point in choices:
        try:
            value = of(*map(mpmath.mpf, point))
        except (ValueError, ZeroDivisionError):
            continue
        if mpmath.isfinite(value) and abs(value) < 1e300 and (value != 0 or "cdf" not in name):
            found.append(point)
        if len(found) == POINTS:
            break
    return found


def assert_close(computed: float, exact: mpmath.mpf, what: object) -> None:
    assert abs(computed - exact) <= 2e-11 * abs(exact) + 1e-13, f"{what}: {computed!r} instead of {mpmath.nstr(exact, 17)}"


@each_function
def test_value_gradient_and_hessian_are_those_of_mpmath(name):
    function = getattr(ag, name)
    free = [k for k, (_, condition) in enumerate(ROWS[name].arguments) if is_continuous(condition)]
    chosen = points(name)
    assert len(chosen) >= 4  # those of two outcomes have no more
    with mpmath.workdps(60):
        for point in chosen:

            def at(x, point=point):
                arguments = list(point)
                for i, k in enumerate(free):
                    arguments[k] = x[i]
                return function(*arguments)

            x = np.array([point[k] for k in free])
            orders = np.eye(len(point), dtype=int)
            assert_close(function(*point), derivative(name, point, 0 * orders[0]), (name, point))
            if not free:
                continue
            gradients = [ag.grad(at)(x), ag.compile(ag.grad(at))(x), ag.jacfwd(at)(x)]
            hessians = [ag.hessian(at)(x), ag.compile(ag.hessian(at))(x), ag.jacfwd(ag.grad(at))(x)]
            for i, k in enumerate(free):
                slope = derivative(name, point, orders[k])
                for gradient in gradients:
                    assert_close(gradient[i], slope, (name, point, k))
                for j, m in list(enumerate(free))[: i + 1]:
                    curvature = derivative(name, point, orders[k] + orders[m])
                    for hessian in hessians:
                        assert_close(hessian[i, j], curvature, (name, point, k, m))


def sum_of_terms(name: str, arguments: list, n: int):
    """Return the sum, or product, of a function's terms, each computed by a call of its own."""
    function = getattr(ag, name)
    terms = [function(*(x[i] if np.ndim(x) else x for x in arguments)) for i in range(n)]
    return np.prod(ag.array(terms)) if ROWS[name].is_product else np.sum(ag.array(terms))


@each_function
def test_arrays_and_numbers_broadcast_in_value_and_gradient(name):
    row, function = ROWS[name], getattr(ag, name)
    chosen = np.array(points(name)[:4]).T
    free = tuple(k for k, (_, condition) in enumerate(row.arguments) if is_continuous(condition))
    for is_array in itertools.product([False, True], repeat=len(row.arguments)):
        arguments = [column if whole else column[0] for column, whole in zip(chosen, is_array, strict=True)]
        if not all(np.all(MEETS[must](arguments[i], arguments[j])) for i, must, j in row.pairs):
            continue
        if name == "hypergeometric_lpmf" and np.any(arguments[1] > arguments[2] + arguments[3]):  # more draws than balls
            continue
        n = chosen.shape[1] if any(is_array) else 1
        value = sum_of_terms(name, arguments, n)
        if not np.isfinite(value):
            continue
        np.testing.assert_allclose(function(*arguments), value, rtol=1e-12, atol=1e-300)
        if not free:
            continue
        exact = ag.grad(lambda *x, n=n: sum_of_terms(name, x, n), free)(*arguments)
        for gradient in (ag.grad(function, free)(*arguments), ag.compile(ag.grad(function, free))(*arguments)):
            for computed, entries in zip(gradient, exact, strict=True):
                np.testing.assert_allclose(computed, entries, rtol=1e-10, atol=1e-13)


@each_function
def test_each_condition_is_checked_with_argument_index_and_value(name):
    row, function = ROWS[name], getattr(ag, name)
    chosen = [np.array(column) for column in zip(*points(name)[:3], strict=True)]
    for k, (argument, condition) in enumerate(row.arguments):
        wrong = [*chosen[:k], np.where(np.arange(3) == 1, np.nan, chosen[k]), *chosen[k + 1 :]]
        for call in (function, ag.compile(lambda *x: function(*x)), ag.grad(function, k)):
            with pytest.raises(ag.DomainError) as error:
                call(*wrong)
            assert f"{name}: {argument}[1] is nan, but must be {condition}" in str(error.value)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.pairs])
def test_each_condition_on_two_arguments_is_checked_at_each_run(name):
    row, function = ROWS[name], getattr(ag, name)
    for first, must, second in row.pairs:
        right = [np.array(column) for column in zip(*points(name)[:3], strict=True)]
        wrong = [column.copy() for column in right]
        wrong[first][1], wrong[second][1] = right[second][1], right[first][1]
        argument, other = row.arguments[first][0], row.arguments[second][0]
        high, low = (repr(float(right[k][1])).removesuffix(".0") for k in (second, first))
        text = f"{name}: {argument}[1] is {high}, but must be {must} {other} = {low}"
        compiled, gradient = ag.compile(lambda *x: function(*x)), ag.grad(function, first)
        assert np.isfinite(compiled(*right)), "so that the run of `wrong` below is not the one that records"
        for call in (function, compiled, gradient):
            with pytest.raises(ag.DomainError) as error:
                call(*wrong)
            assert text in str(error.value)
        if must == "at most":
            continue
        equal = [column[0] for column in right]
        equal[first] = equal[second]
        with pytest.raises(ag.DomainError, match=f"{argument} is .*, but must be {must} {other}"):
            function(*equal)


@each_function
def test_propto_drops_what_depends_on_data_alone(name):
    row, function = ROWS[name], getattr(ag, name)
    if not row.has_propto:
        with pytest.raises(TypeError):
            function(*points(name)[0], propto=True)
        return
    first, second = points(name)[0], points(name)[1]
    for k, (_, condition) in enumerate(row.arguments):
        if not is_continuous(condition):
            continue

        def of(x, k=k, **options):
            return function(*first[:k], x, *first[k + 1 :], **options)

        if not np.isfinite(of(second[k])):
            continue
        whole = of(second[k]) - of(first[k])
        part = [of(x, propto=True) for x in (second[k], first[k])]
        np.testing.assert_allclose(part[0] - part[1], whole, rtol=1e-10, atol=1e-10)


def ways_to_call(f):
    """Return f of one number as it is called in many ways, whichever argument is recorded."""
    return {
        "plain": f,
        "compiled": ag.compile(f),
        "value and gradient": lambda x: ag.value_and_grad(f)(x)[0],
        "jvp": lambda x: ag.jvp(f, (x,), (1.0,))[0],
        "rows": lambda x: ag.vmap(f)(np.array([x, x]))[1],
        "constant in a gradient": lambda x: ag.value_and_grad(lambda z: f(x) + z)(0.0)[0],
        "constant in rows": lambda x: ag.vmap(lambda z: f(x) + z)(np.zeros(2))[1],
        "nested": lambda x: ag.jvp(lambda z: ag.value_and_grad(f)(z)[0], (x,), (1.0,))[0],
        "compiled rows": lambda x: ag.compile(ag.vmap(lambda z: ag.value_and_grad(f)(z)[0]))(np.array([x, x]))[1],
    }


@each_function
def test_propto_has_one_number_however_a_density_is_called(name):
    row, function = ROWS[name], getattr(ag, name)
    if not row.has_propto:
        return
    point = points(name)[0]
    expected = function(*point, propto=True)
    for k in range(len(row.arguments)):
        for way, call in ways_to_call(lambda x, k=k: function(*point[:k], x, *point[k + 1 :], propto=True)).items():
            assert call(point[k]) == pytest.approx(expected, rel=1e-13, abs=1e-14), (k, way)


def test_propto_keeps_every_term_with_a_parameter():
    assert ag.normal_lpdf(0.3, 0.1, 1.5, propto=True) == pytest.approx(-0.5 * (0.2 / 1.5) ** 2 - np.log(1.5), rel=1e-14)
    assert ag.poisson_lpmf(3, 2.0, propto=True) == pytest.approx(3 * np.log(2.0) - 2.0, rel=1e-14)
    assert ag.hypergeometric_lpmf(1, 2, 3, 4, propto=True) == 0  # of data alone
    assert ag.hypergeometric_lpmf(3, 2, 3, 4, propto=True) == -np.inf  # outside of the support


def test_empty_sequences_sum_to_zero_and_multiply_to_one():
    assert ag.exponential_lpdf(np.empty(0), 1.0) == 0.0
    assert ag.exponential_cdf(np.empty(0), 1.0) == 1.0


def test_counts_may_change_from_run_to_run():
    compiled = ag.compile(ag.value_and_grad(ag.poisson_lpmf, argnums=(0, 1)))
    for counts in ([1.0, 2.0], [3.0, 0.0], [5.0, 2.0]):
        value, (by_count, by_rate) = compiled(np.array(counts), 2.0)
        assert value == pytest.approx(ag.poisson_lpmf(counts, 2.0), rel=1e-14)
        assert by_rate == pytest.approx(sum(counts) / 2 - 2, rel=1e-14)
        assert not np.any(by_count)
