"""Pulses are found by all solvers: those with Stan's names, with recorded initial and output times, and by solve_many."""

import numpy as np
import pytest

import agrad as ag

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
#: Of each solver, what its tolerance lets the error be.
SOLVERS = {
    "adams": 1e-7, "bdf": 1e-6, "rk45": 1e-7, "tsit5": 1e-7, "ckrk": 1e-7, "dop853": 1e-7, "rodas4": 1e-7, "adjoint": 1e-6,
}  # fmt: skip


def pulse(t, y, begin, length, rate):
    return rate * np.where((t > begin) & (t < begin + length), 1.0, 0.0) - y


def closed(t0, t, y0, begin, length, rate, way=1.0):
    """Forwards over the whole pulse, or with way -1 back over it."""
    return y0 * np.exp(t0 - t) + way * rate * (np.exp(begin + length - t) - np.exp(begin - t))


def stans(name, y0, t0, times, *args):
    solver = getattr(ag, f"ode_{name}_tol")
    return solver(pulse, y0, t0, times, 1e-9, 1e-11, 100_000, *args)


X = np.array([5.0, 0.1, 1.3])


@pytest.mark.parametrize("name", SOLVERS)
def test_stans_names(name):
    def end(x):
        return stans(name, [0.0], 0.0, [8.0, 50.0], *x)[0, 0]

    def exact(x):
        return closed(0.0, 8.0, 0.0, *x)

    assert end(X) == pytest.approx(exact(X), rel=SOLVERS[name])
    assert stans(name, [0.0], 0.0, [4.0, 8.0], *X)[0, 0] == 0.0
    for transform in (ag.grad, lambda f: ag.compile(ag.grad(f))):
        np.testing.assert_allclose(transform(end)(X), ag.grad(exact)(X), rtol=10 * SOLVERS[name])
        np.testing.assert_allclose(transform(end)(X - 0.05), ag.grad(exact)(X - 0.05), rtol=10 * SOLVERS[name])


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "adjoint"])
def test_stans_names_with_the_usual_tolerances_and_all_options(name):
    usual = getattr(ag, f"ode_{name}")(pulse, [0.0], 0.0, [8.0, 50.0], *X)[0, 0]
    assert usual == pytest.approx(closed(0.0, 8.0, 0.0, *X), rel=1e-3)
    both = [1e-9, np.array([1e-11])]
    controlled = ag.ode_adjoint_tol_ctl(pulse, [0.0], 0.0, [8.0], *both, *both, 1e-9, 1e-11, 100_000, 150, 2, 2, 2, *X)
    assert controlled[0, 0] == pytest.approx(closed(0.0, 8.0, 0.0, *X), rel=1e-6)


def times_and_all(p, method, span_only=False):
    """From p[0] to p[1] with the state p[2] at first, and the pulse from p[3] on of length p[4]."""
    span, t_eval = ([p[0], p[1]], None) if span_only else ((p[0], 50.0), [p[1]])
    return ag.solve_ivp(pulse, span, [p[2]], method, t_eval, args=(p[3], p[4], 1.0), **TIGHT).y[0]


P = np.array([0.3, 8.0, 2.0, 5.0, 0.1])


@pytest.mark.parametrize("method", ["Tsit5", "RK45", "DOP853", "Rodas4", "auto", "BDF", "Adams"])
def test_recorded_initial_and_output_times(method):
    exact = ag.grad(lambda p: closed(p[0], p[1], *p[2:], 1.0))
    for f in (lambda p: times_and_all(p, method)[0], lambda p: times_and_all(p, method, span_only=True)[-1]):
        np.testing.assert_allclose(ag.grad(f)(P), exact(P), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ag.compile(ag.grad(f))(P + 0.1), exact(P + 0.1), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ag.jacfwd(f)(P), exact(P), rtol=1e-6, atol=1e-7)
        if method not in ("BDF", "Adams"):
            np.testing.assert_allclose(ag.hessian(f)(P), ag.jacobian(exact)(P), rtol=1e-5, atol=1e-6)
            continue
        with pytest.raises(NotImplementedError, match="solve_ivp has first derivatives only"):
            ag.hessian(f)(P)
    both = ag.jacobian(lambda p: times_and_all(p, method, span_only=True))(P)
    np.testing.assert_allclose(both[0], [0.0, 0.0, 1.0, 0.0, 0.0], atol=1e-12)  # the initial state is y0, wherever t0 is
    name = {"auto": "tsit5"}.get(method, method).lower()
    by_name = ag.grad(lambda p: stans(name, [p[2]], p[0], [p[1]], p[3], p[4], 1.0)[0, 0])(P)
    np.testing.assert_allclose(by_name, exact(P), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_recorded_times_that_decrease(method):
    p = np.array([8.0, 3.0, 2.0, 5.0, 0.1])
    got = ag.value_and_grad(lambda p: times_and_all(p, method, span_only=True)[-1])(p)
    exact = ag.value_and_grad(lambda p: closed(p[0], p[1], *p[2:], 1.0, -1.0))(p)
    np.testing.assert_allclose(got[0], exact[0], rtol=1e-6)
    np.testing.assert_allclose(got[1], exact[1], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("method", ["auto", "Tsit5", "Rodas4", "BDF"])
def test_many_subjects(method):
    def run(q):
        dose = ag.Dose(4.0, 0, 0.5)
        given = [
            ag.Subject((0.3, 8.0), [q[0]], [0.3, 8.0, 8.0], (q[1], q[2], 1.0)),
            ag.Subject((0.0, 9.0), [1.0], [8.5, 9.0], (q[1] + 1.0, q[2], 1.0)),
            ag.Subject((8.0, 3.0), [q[0]], None, (q[1], q[2], 1.0)),
            ag.Subject((0.3, 8.0), [q[0]], [0.3, 8.0], (q[1], q[2], 1.0), [dose]),
        ]
        results = ag.solve_many(pulse, given, method, **TIGHT)
        assert [each.y.shape for each in results] == [(1, 3), (1, 2), (1, 2), (1, 2)]
        return np.stack([results[0].y[0, 2], results[1].y[0, 0], results[2].y[0, -1], results[3].y[0, -1], results[0].y[0, 0]])

    def exact(q):
        first = closed(0.3, 8.0, *q, 1.0)
        second, third = closed(0.0, 8.5, 1.0, q[1] + 1.0, q[2], 1.0), closed(8.0, 3.0, *q, 1.0, -1.0)
        return ag.array([first, second, third, first + 0.5 * np.exp(-4.0), q[0]])

    q = np.array([2.0, 5.0, 0.1])
    np.testing.assert_allclose(run(q), exact(q), rtol=1e-6)
    np.testing.assert_allclose(ag.jacobian(run)(q), ag.jacobian(exact)(q), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.jacobian(run))(q + 0.1), ag.jacobian(exact)(q + 0.1), rtol=1e-6, atol=1e-6)
