"""Differential-algebraic equations whose derivatives occur in combinations that depend on parameters: gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, null_space

import agrad as ag

WAYS = ("adjoint", "forward")


def joined_capacitors(t, v, vp, c):
    """Two capacitors that a source joins; the source jumps from 0 to 1 at t = 1, where the charge c0 v0 + c1 v1 stays."""
    return [c[0] * vp[0] + c[1] * vp[1] + v[0], v[0] - v[1] - np.where(t < 1.0, 0.0, 1.0)]


@pytest.mark.parametrize("way", WAYS)
def test_a_corrected_start_keeps_a_combination(way):
    def start(p, y0):
        found = ag.solve_dae(lambda t, y, yp: [p * yp[0] + yp[1], y[1] - 2 * y[0]], (0.0, 1.0), y0, sensitivities=way)
        return found.y[0, 0]

    y0 = np.array([1.0, 0.5])
    assert start(3.0, y0) == pytest.approx((3 + 0.5) / (3 + 2), rel=1e-12)
    of_p, of_y0 = ag.grad(start, argnums=(0, 1))(3.0, y0)
    assert of_p == pytest.approx((2 - 0.5) / (3 + 2) ** 2, rel=1e-12)
    assert of_y0 == pytest.approx([3 / 5, 1 / 5], rel=1e-12)
    assert ag.jacfwd(start)(3.0, y0) == pytest.approx(0.06, rel=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_the_charge_of_joined_capacitors_at_a_jump(way):
    def end(c):
        found = ag.solve_dae(joined_capacitors, (0.0, 2.0), [1.0, 1.0], args=(c,), rtol=1e-10, atol=1e-12, sensitivities=way)
        return found.y[0, -1]

    c, e = np.array([2.0, 3.0]), np.exp(-1 / 5)
    both = 2 * e * e / 25 + 3 * e * (1 / 125 - 1 / 25)  # of e^2 + c1 e / (c0 + c1)
    expected = [both, both + e / 5]
    assert end(c) == pytest.approx(e * e + 3 * e / 5, rel=1e-9)
    for gradient in (ag.grad(end), ag.compile(ag.grad(end)), ag.jacfwd(end)):
        assert gradient(c) == pytest.approx(expected, rel=1e-8)


class Linear:
    """left right(p) y' + b y = g(t), where the null space of the 2 x 4 matrix right(p) moves with p, and g jumps at t = 0.5."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.left, self.b, self.g = rng.standard_normal((4, 2)), rng.standard_normal((4, 4)), rng.standard_normal((2, 4))
        self.constant, self.turning = rng.standard_normal((2, 4)), rng.standard_normal((3, 2, 4))
        self.p, self.y0 = rng.standard_normal(3), rng.standard_normal(4)

    def right(self, p):
        return self.constant + p[0] * self.turning[0] + p[1] * self.turning[1] + p[2] * self.turning[2]

    def residual(self, t, y, yp, p):
        return self.left @ (self.right(p) @ yp) + self.b @ y - np.where(t < 0.5, self.g[0], self.g[1])

    def solved(self, p, y0, **options):
        return ag.solve_dae(self.residual, (0.0, 1.0), y0, t_eval=[0.0, 0.5, 1.0], args=(p,), **options)

    def in_closed_form(self, p, y0):
        """Returns y at 0, 0.5 (behind the jump) and 1, by functions of complex numbers, too."""
        right, free = self.right(p), null_space(self.left.T).T  # free: combinations of equations without derivatives
        z = np.vstack([np.linalg.solve(right[:, :2], -right[:, 2:]), np.eye(2)])
        inverse = np.linalg.inv(np.vstack([right, free @ self.b]))  # of (right y, free b y)
        states = []
        for g in self.g:
            y = y0 + z @ np.linalg.solve(free @ self.b @ z, free @ (g - self.b @ y0))
            matrix = -np.linalg.pinv(self.left) @ self.b @ inverse[:, :2]
            drive = np.linalg.pinv(self.left) @ (g - self.b @ inverse[:, 2:] @ free @ g)
            rest = np.linalg.solve(matrix, drive)
            a = expm(0.5 * matrix) @ (right @ y + rest) - rest
            y0 = inverse @ np.concatenate([a, free @ g])
            states.append(y)
        return np.array([*states, y0]).T


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_null_spaces_that_move_with_parameters(seed, way):
    system = Linear(seed)
    weights = np.cos(1.0 + np.arange(12)).reshape(4, 3)
    loss = lambda p, y0: np.sum(weights * system.solved(p, y0, rtol=1e-10, atol=1e-10, sensitivities=way).y)  # noqa: E731

    expected = system.in_closed_form(system.p, system.y0)
    assert system.solved(system.p, system.y0, rtol=1e-10, atol=1e-10).y == pytest.approx(expected, rel=1e-7, abs=1e-7)
    of_p, of_y0 = ag.grad(loss, argnums=(0, 1))(system.p, system.y0)
    step = 1e-30
    moved = [system.in_closed_form(system.p + 1j * step * e, system.y0).imag / step for e in np.eye(3)]
    assert of_p == pytest.approx([np.sum(weights * each) for each in moved], rel=1e-6, abs=1e-6)
    moved = [system.in_closed_form(system.p, system.y0 + 1j * step * e).imag / step for e in np.eye(4)]
    assert of_y0 == pytest.approx([np.sum(weights * each) for each in moved], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_given_derivatives_of_a_combination(way):
    def start(p, yp0):
        found = ag.solve_dae(
            lambda t, y, yp: [p * yp[0] + yp[1] + y[0], y[1] - 2 * y[0] - t],
            (0.0, 1.0),
            [0.0, 0.0],
            yp0=yp0,
            initial="derivatives",
            sensitivities=way,
        )
        return found.y[0, 0]

    of_p, of_yp0 = ag.grad(start, argnums=(0, 1))(1.5, np.array([0.3, 0.7]))
    assert start(1.5, np.array([0.3, 0.7])) == pytest.approx(-(1.5 * 0.3 + 0.7), rel=1e-12)
    assert of_p == pytest.approx(-0.3, rel=1e-9)
    assert of_yp0 == pytest.approx([-1.5, -1.0], rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_a_null_space_that_differs_at_other_derivatives_is_refused(way):
    def end(p, y0):
        def residual(t, y, yp):
            return [p * yp[0] + yp[1] + y[0] + np.maximum(yp[0] - 0.3, 0.0), y[1] - 2 * y[0]]

        return ag.solve_dae(residual, (0.0, 1.0), y0, sensitivities=way).y[0, -1]

    assert end(3.0, [-4.0, 8.0]) == pytest.approx(-0.8 * np.exp(-1 / 5), rel=1e-4)
    assert ag.grad(end)(3.0, [1.0, 2.0]) == pytest.approx(np.exp(-1 / 5) / 25, rel=1e-3)
    with pytest.raises(ag.DomainError, match=r"^solve_dae: the null space of dF/dyp at t = 0 differs from the one at t0"):
        ag.grad(end)(3.0, [-4.0, 8.0])
