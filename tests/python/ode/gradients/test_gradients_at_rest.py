"""Systems that start at rest: steps have nothing to do, and derivatives are those of a system that moves, in closed form."""

import numpy as np
import pytest

import agrad as ag

TIMES = np.array([0.1, 1.0, 3.0, 50.0])


def turnover(y, p):
    """Made at p0, lost at p1; a second state follows the first at p2."""
    return [p[0] - p[1] * y[0], p[2] * (y[0] - y[1])]


def expected(p):
    """The derivatives with respect to p from rest, where y0 = y1 = p0 / p1; p2 does not move them."""
    fast, slow = np.exp(-p[1] * TIMES), np.exp(-p[2] * TIMES)
    first = (1 - fast) / p[1]
    second = (1 - slow) / p[1] - p[2] / p[1] * (slow - fast) / (p[1] - p[2])
    rest = p[0] / p[1]
    return np.stack([np.stack([s, -rest * s, 0 * s], axis=1) for s in (first, second)])


def by_ivp(method, sensitivities):
    def states(p, y0, tolerances):
        slope = lambda t, y, p: turnover(y, p)  # noqa: E731
        found = ag.solve_ivp(slope, (0.0, 50.0), y0, method, TIMES, args=(p,), sensitivities=sensitivities, **tolerances)
        return found.y

    return states


def by_dae(sensitivities):
    def states(p, y0, tolerances):
        def residual(t, y, yp, p):
            return np.stack([yp[0], yp[1]]) - np.stack(turnover(y, p))

        return ag.solve_dae(residual, (0.0, 50.0), y0, None, TIMES, args=(p,), sensitivities=sensitivities, **tolerances).y

    return states


WAYS = {
    "BDF": by_ivp("BDF", "adjoint"),
    "BDF forward": by_ivp("BDF", "forward"),
    "Adams": by_ivp("Adams", "adjoint"),
    "Adams forward": by_ivp("Adams", "forward"),
    "DAE": by_dae("adjoint"),
    "DAE forward": by_dae("forward"),
}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("way", list(WAYS))
def test_gradients_from_rest(way, rtol):
    p, tolerances = np.array([6.0, 2.0, 0.3]), {"rtol": rtol, "atol": 1e-3 * rtol}
    y0 = np.array([3.0, 3.0])
    np.testing.assert_allclose(WAYS[way](p, y0, tolerances), 3.0, rtol=rtol)
    found = ag.jacrev(lambda p: WAYS[way](p, y0, tolerances))(p)
    np.testing.assert_allclose(found, expected(p), atol=20 * rtol)


def test_steady_states_from_rest():
    p = np.array([6.0, 2.0, 0.3])
    for method in ("auto", "newton", "integration"):
        rest = ag.jacobian(lambda p: ag.steady_state(lambda t, y, p: turnover(y, p), [3.0, 3.0], args=(p,), method=method).y)(p)  # noqa: B023
        np.testing.assert_allclose(rest, [[0.5, -1.5, 0.0], [0.5, -1.5, 0.0]], atol=1e-12)


def test_a_second_time_scale_moves_when_the_first_has_come_to_rest():
    """The fast state does not start at rest, the slow one does, and its derivative moves when all states are there."""
    rates, times = np.array([100.0, 1.0]), np.array([0.1, 1.0, 2.0])

    def slow(p):
        residual = lambda t, y, yp, p: yp - rates * (p - y)  # noqa: E731
        return ag.solve_dae(
            residual, (0.0, 2.0), [2.5, 2.0], None, times, args=(p,), rtol=1e-8, atol=1e-11, sensitivities="forward"
        ).y[1]

    found = ag.jacrev(slow)(np.array([2.0, 2.0]))
    np.testing.assert_allclose(found, np.stack([0 * times, 1 - np.exp(-times)], axis=1), atol=2e-7)
