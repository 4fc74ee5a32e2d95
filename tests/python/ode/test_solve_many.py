"""solve_many: against a loop of solve_ivp, in every mode; sharing, ragged times, threads, faults."""

import numpy as np
import pytest

import agrad as ag
from agrad import Subject

GENERATOR = np.random.default_rng(3)
TOLERANCES = {"rtol": 1e-9, "atol": 1e-9}


def elimination(t, y, rates, dose):
    """Absorption and elimination of a drug, with an infusion."""
    return [-rates["in"] * y[0] + dose, rates["in"] * y[0] - rates["out"] * y[1]]


def population(count=12):
    times = [np.sort(GENERATOR.uniform(0.1, 6.0, size=3 + k % 4)) for k in range(count)]
    weights = GENERATOR.uniform(0.5, 2.0, size=count)
    return times, weights


TIMES, WEIGHTS = population()


def subjects_of(p, y0):
    rates = {"in": p[0], "out": p[1]}
    return [Subject((0.0, times[-1]), y0 * w, times, (rates, w)) for times, w in zip(TIMES, WEIGHTS, strict=True)]


def loss(p, y0, method="Tsit5", threads=0):
    results = ag.solve_many(elimination, subjects_of(p, y0), method, threads=threads, **TOLERANCES)
    return sum(np.sum(result.y[1] ** 2 * (k + 1)) for k, result in enumerate(results))


def by_loop(p, y0, method="Tsit5"):
    total = 0.0
    for k, s in enumerate(subjects_of(p, y0)):
        y = ag.solve_ivp(elimination, s.t_span, s.y0, method, s.t_eval, args=s.args, **TOLERANCES).y
        total = total + np.sum(y[1] ** 2 * (k + 1))
    return total


P, Y0 = np.array([1.3, 0.4]), np.array([2.0, 0.1])


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas4", "Rodas5P", "BDF"])
def test_equals_a_loop(made, method):
    value, gradient = made(ag.value_and_grad(lambda p, y0: loss(p, y0, method), (0, 1)))(P, Y0)
    expected, expected_gradient = ag.value_and_grad(lambda p, y0: by_loop(p, y0, method), (0, 1))(P, Y0)
    assert value == pytest.approx(expected, rel=1e-13)
    for given, wanted in zip(gradient, expected_gradient, strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-7 if method == "BDF" else 1e-11)  # its quadrature has more entries


def test_second_order(made):
    hessian = made(ag.hessian(loss))(P, Y0)
    np.testing.assert_allclose(hessian, made(ag.hessian(by_loop))(P, Y0), rtol=1e-10)  # compiled, Y0 is active as well
    v = np.array([0.3, -1.0])
    tangent = ag.jvp(lambda p: loss(p, Y0), (P,), (v,))[1]
    assert tangent == pytest.approx(ag.grad(loss)(P, Y0) @ v, rel=1e-12)


def test_plain_results_have_scipys_shape():
    results = ag.solve_many(elimination, subjects_of(P, Y0))
    for result, times in zip(results, TIMES, strict=True):
        np.testing.assert_array_equal(result.t, times)
        assert result.y.shape == (2, len(times))
        assert result.success


def test_threads_give_the_same_bits():
    f = ag.compile(ag.value_and_grad(loss))
    value, gradient = f(P, Y0, threads=1)
    for threads in (2, 3, 0):
        again = f(P, Y0, threads=threads)
        assert again[0] == value
        np.testing.assert_array_equal(again[1], gradient)


def test_recorded_once_for_a_shape():
    calls = []

    def f(t, y, k):
        calls.append(1)
        return -k * y

    subjects = [Subject((0.0, 1.0 + k), [1.0, 2.0], None, (0.1 * k,)) for k in range(5)]
    results = ag.solve_many(f, [*subjects, Subject((0.0, 1.0), [1.0], None, (0.5,))])
    assert len(calls) == 2  # of two states and of one
    for k, result in enumerate(results[:5]):
        np.testing.assert_allclose(result.y[:, -1], np.array([1.0, 2.0]) * np.exp(-0.1 * k * (1 + k)), rtol=1e-5)


def test_captured_values_and_other_arguments():
    def total(rate):
        subjects = [Subject((0.0, 1.0), [1.0], [1.0], (kind,)) for kind in ("slow", "fast", "slow")]
        results = ag.solve_many(lambda t, y, kind: -rate * y * (2 if kind == "fast" else 1), subjects, **TOLERANCES)
        return sum(result.y[0, 0] for result in results)

    value, slope = ag.value_and_grad(total)(0.7)
    assert value == pytest.approx(2 * np.exp(-0.7) + np.exp(-1.4), rel=1e-8)
    assert slope == pytest.approx(-2 * np.exp(-0.7) - 2 * np.exp(-1.4), rel=1e-7)


def test_initial_times_alone_and_nobody():
    assert ag.solve_many(elimination, []) == []
    alone = ag.solve_many(lambda t, y: -y, [Subject((0.0, 1.0), [3.0], [0.0]), Subject((0.0, 1.0), [3.0], [0.0, 1.0])])
    np.testing.assert_array_equal(alone[0].y, [[3.0]])
    np.testing.assert_allclose(alone[1].y, [[3.0, 3.0 * np.exp(-1.0)]], rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.solve_many(3, []), TypeError, "solve_many: fun is 3, but must be callable"),
        (lambda: ag.solve_many(elimination, [(0, 1)]), TypeError, r"subjects\[0\] is \(0, 1\), but must be an agrad.Subject"),
        (
            lambda: ag.solve_many(elimination, [Subject((0.0, 1.0), np.ones((2, 2)))]),
            ag.ShapeError,
            r"solve_many\(subjects\[0\]\): y0 is of shape \(2, 2\), but must be a vector",
        ),
        (
            lambda: ag.solve_many(elimination, [Subject((1.0, 1.0), [1.0])]),
            ag.DomainError,
            r"solve_many\(subjects\[0\]\): t_span is \(1.0, 1.0\), but must be of two different times",
        ),
        (lambda: ag.solve_many(elimination, [], threads=-1), ag.DomainError, "threads is -1, but must be at least 0"),
        (lambda: ag.solve_many(elimination, [], "Euler"), ValueError, "solve_many: method is 'Euler', but must be one of"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_first_subjects_fault_comes_out():
    subjects = [Subject((0.0, 3.0), [y0], [3.0]) for y0 in (0.1, 1.0, 0.5)]
    for threads in (1, 2, 0):
        with pytest.raises(ag.SolverError, match=r"stopped at t = (0\.9|1\.0|1 )") as caught:
            ag.solve_many(lambda t, y: y**2, subjects, threads=threads)
        assert caught.value.t == pytest.approx(1.0, abs=0.05)
