"""Linear differential-algebraic equations against matrix exponentials: at rest, growing by many orders, in any units."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import agrad as ag

WAYS = ("adjoint", "forward")


class Linear:
    """a' = p0 A a + B b + p1 f and 0 = D b + C a - p2, in units of their own, with parameters p."""

    def __init__(self, seed, differential, algebraic, units=1.0):
        r = np.random.default_rng(seed)
        self.n, self.p = differential, np.array([1.0, 0.7, 0.4])
        self.a = r.normal(size=(differential, differential)) - 0.5 * np.eye(differential)
        self.b, self.c = r.normal(size=(differential, algebraic)), r.normal(size=(algebraic, differential))
        self.d = r.normal(size=(algebraic, algebraic)) + 3 * np.eye(algebraic)
        self.force, self.start = r.normal(size=differential), r.normal(size=differential)
        self.units = np.exp(np.log(units) * r.uniform(-1, 1, size=differential + algebraic))

    def residual(self, t, y, yp, p):
        y, slope = y / self.units, yp[: self.n] / self.units[: self.n]
        a, b = y[: self.n], y[self.n :]
        rest = self.d @ b + self.c @ a - p[2]
        return np.concatenate([slope - p[0] * (self.a @ a) - self.b @ b - p[1] * self.force, rest])

    def solution(self, p, end, way, rtol):
        y0 = np.concatenate([self.start, np.zeros(self.d.shape[0])]) * self.units
        options = {"rtol": rtol, "atol": 1e-2 * rtol * self.units, "sensitivities": way}
        return ag.solve_dae(self.residual, (0.0, end), y0, t_eval=[end], args=(p,), **options).y[:, -1] / self.units

    def derivatives(self, end):
        """The derivatives of a and b at the end by p, by Frechet derivatives of the exponential."""
        n, solved, one = self.n, np.linalg.solve(self.d, self.c), np.linalg.solve(self.d, np.ones(self.d.shape[0]))

        def generator(a, f):
            return end * np.block([[a, f[:, None]], [np.zeros((1, n + 1))]])

        whole = generator(self.p[0] * self.a - self.b @ solved, self.p[1] * self.force + self.p[2] * (self.b @ one))
        zero = np.zeros((n, n))
        along = [generator(self.a, np.zeros(n)), generator(zero, self.force), generator(zero, self.b @ one)]
        by_p = np.stack([(scipy.linalg.expm_frechet(whole, e)[1] @ [*self.start, 1.0])[:n] for e in along], axis=-1)
        return np.concatenate([by_p, np.outer(one, [0.0, 0.0, 1.0]) - solved @ by_p])


def check(system, end, way, rtol):
    truth = system.derivatives(end)
    found = ag.jacobian(lambda p: system.solution(p, end, way, rtol))(system.p)
    np.testing.assert_allclose(found, truth, rtol=0, atol=100 * rtol * np.max(np.abs(truth)))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("differential", "algebraic"), [(1, 0), (1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("way", WAYS)
def test_random_systems_in_any_units(way, differential, algebraic, rtol):
    for seed in range(6):
        check(Linear(seed, differential, algebraic, units=1e4), 2.0, way, rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("way", WAYS)
def test_systems_at_rest(way, rtol):
    for seed in range(6):
        system = Linear(seed, 2, 1)
        system.start[:] = system.force[:] = system.p[2] = 0
        check(system, 2.0, way, rtol)


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["y' = k y", "y y' = k y y", "algebraic", "falling mass", "rising mass"])
def test_growth_by_nine_orders(form, way, rtol):
    """Equations whose derivatives change by orders of magnitude, while an integrator would keep its matrix."""
    residual = {
        "y' = k y": lambda t, y, yp, k: [yp[0] - k * y[0]],
        "y y' = k y y": lambda t, y, yp, k: [y[0] * yp[0] - k * y[0] * y[0]],
        "algebraic": lambda t, y, yp, k: [yp[0] - k * y[1], y[1] - y[0]],
        "falling mass": lambda t, y, yp, k: [np.exp(-6 * t) * (yp[0] - k * y[0])],
        "rising mass": lambda t, y, yp, k: [np.exp(6 * t) * (yp[0] - k * y[0])],
    }[form]

    def end(k):
        y0 = [1.0] * len(residual(0.0, [1.0, 1.0], [1.0, 1.0], 1.0))
        return ag.solve_dae(residual, (0.0, 10.0), y0, t_eval=[10.0], args=(k,), rtol=rtol, sensitivities=way).y[0, -1]

    value, slope = ag.value_and_grad(end)(2.0)
    assert value == pytest.approx(np.exp(20.0), rel=100 * rtol)
    assert slope == pytest.approx(10 * np.exp(20.0), rel=100 * rtol)
