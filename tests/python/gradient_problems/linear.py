"""Linear systems at rest, or from a smooth state: relaxation, turnover, exchange, control loops."""

from __future__ import annotations

import numpy as np

from gradient_problems.problem import Problem, spread


def relaxation(t, y, p):
    return p[0] - y


def turnover(t, y, p):
    """Made at a rate p[0], lost at a rate p[1]."""
    return p[0] - p[1] * y


def turnover_chain(t, y, p):
    """Precursors that become one another at the rates p[1:], the first made at a rate p[0]."""
    made = p[1:] * y
    return np.concatenate([p[:1], made[:-1]]) - made


def exchange(t, y, p):
    flow = p[0] * y[0] - p[1] * y[1]
    return [-flow, flow]


#: Forward and backward rates of a chain of six species.
CHAIN = np.array([100.0, 5.0, 0.3, 20.0, 1.0, 50.0, 10.0, 0.1, 5.0, 4.0])


def chain(t, y, p):
    flow = p[:5] * y[:-1] - p[5:] * y[1:]
    return np.concatenate([-flow[:1], flow[:-1] - flow[1:], flow[-1:]])


def chain_equilibrium():
    y = np.cumprod(np.concatenate([[1.0], CHAIN[:5] / CHAIN[5:]]))
    return y / y.sum()


def cart_pole(t, y, p):
    """A pole on a cart, linearised upright, under state feedback with the gains p[1:] towards the position p[0].

    The cart weighs 1, the pole 0.1 at a length of 0.5; the gains are those of a linear quadratic regulator (Q = I, R = 0.1).
    """
    force = -(p[1] * (y[0] - p[0]) + p[2] * y[1] + p[3] * y[2] + p[4] * y[3])
    return [y[1], force - 0.981 * y[2], y[3], 21.582 * y[2] - 2.0 * force]


def actuator(t, y, p):
    """A double integrator with a controller, whose force follows what is asked for within a thousandth of a second."""
    asked = -p[1] * (y[0] - p[0]) - p[2] * y[1]
    return [y[1], y[2], (asked - y[2]) / p[3]]


def absorption(t, y, p):
    """A dose through eight transit compartments, of a rate p[0], into one that it leaves at a rate p[1]."""
    out = np.concatenate([p[0] * y[:-1], p[1] * y[-1:]])
    return np.concatenate([[0.0], out[:-1]]) - out


def forced(t, y, p):
    """Prothero and Robinson's equation: a stiff one that follows p[1] cos t."""
    return -p[0] * (y - p[1] * np.cos(t)) - p[1] * np.sin(t)


def circadian(t, y, p):
    """Turnover of what is made in a daily rhythm, followed by one that is slower."""
    made = p[0] * (1 + p[1] * np.cos(2 * np.pi / 24 * t))
    return [made - p[2] * y[0], p[2] * y[0] - p[3] * y[1]]


PROBLEMS = [
    Problem("relaxation", relaxation, [1.0], [1.0], [50.0], [1.0], is_at_rest=True),
    Problem(
        "turnover at its baseline", turnover, lambda p: p[:1] / p[1:], [0.2, 0.1], [1000.0], [1.0], scale=2.0, is_at_rest=True
    ),
    Problem(
        "turnover chain at its baseline",
        turnover_chain,
        lambda p: p[:1] / p[1:],
        [2.0, 0.5, 20.0, 0.05, 3.0],
        [400.0],
        spread(4),
        scale=[4.0, 0.1, 40.0, 0.6],
        is_at_rest=True,
    ),
    Problem("exchange at equilibrium", exchange, [3.0, 1.0], [1.0, 3.0], [100.0], spread(2), is_at_rest=True),
    Problem("reversible chain at equilibrium", chain, chain_equilibrium(), CHAIN, [50.0], spread(6), is_at_rest=True),
    Problem(
        "regulated cart and pole at the origin",
        cart_pole,
        np.zeros(4),
        [0.0, -3.16, -5.62, -44.2, -10.2],
        [0.5, 20.0],
        [spread(4), spread(4)],
        p_scale=[1.0, 3.16, 5.62, 44.2, 10.2],
        is_at_rest=True,
    ),
    Problem(
        "double integrator with a fast actuator",
        actuator,
        np.zeros(3),
        [0.0, 2.0, 3.0, 1e-3],
        [20.0],
        spread(3),
        p_scale=[1.0, 2.0, 3.0, 1e-3],
        is_at_rest=True,
    ),
    Problem(
        "transit compartments at rest",
        absorption,
        np.zeros(9),
        [2.0, 0.05],
        [4.0, 48.0],
        [spread(9), spread(9)],
        is_at_rest=True,
    ),
    Problem("Prothero and Robinson", forced, [1.0], [1000.0, 1.0], [10.0], [1.0]),
    Problem(
        "turnover in a daily rhythm", circadian, [2.0, 8.0], [0.4, 0.5, 0.2, 0.05], [30.0, 200.0], [[1.0, -0.3], [0.5, 2.0]]
    ),
]
