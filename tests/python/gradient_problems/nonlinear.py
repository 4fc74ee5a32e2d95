"""Nonlinear systems at rest: populations, neurons, reactions, a pendulum that stands on its head; and two that move."""

from __future__ import annotations

import numpy as np

from gradient_problems.problem import Problem, spread


def pendulum(t, y, p):
    """The angle from upright, and its rate; gravity p[0], length p[1]."""
    return [y[1], p[0] / p[1] * np.sin(y[0])]


def logistic(t, y, p):
    return p[0] * y * (1 - y / p[1])


def sir(t, y, p):
    infection = p[0] * y[0] * y[1] / 1000.0
    return [-infection, infection - p[1] * y[1], p[1] * y[1]]


def seir(t, y, p):
    """A quick infection of days, with births and deaths over decades."""
    infection = p[0] * y[0] * y[2] / 1000.0
    return [
        p[3] * (1000.0 - y[0]) - infection,
        infection - (p[1] + p[3]) * y[1],
        p[1] * y[1] - (p[2] + p[3]) * y[2],
        p[2] * y[2] - p[3] * y[3],
    ]


#: FitzHugh and Nagumo's model rests at a voltage of -1.2 with this current.
NAGUMO = np.array([0.08, 0.7, 0.8, (-1.2 + 0.7) / 0.8 + 1.2 + (-1.2) ** 3 / 3])


def nagumo(t, y, p):
    return [y[0] - y[0] ** 3 / 3 - y[1] + p[3], p[0] * (y[0] + p[1] - p[2] * y[1])]


def gates(v):
    """Opening and closing rates of Hodgkin and Huxley's gates m, h and n; v in millivolts."""
    opening = (
        0.1 * (v + 40) / (1 - np.exp(-(v + 40) / 10)),
        0.07 * np.exp(-(v + 65) / 20),
        0.01 * (v + 55) / (1 - np.exp(-(v + 55) / 10)),
    )
    closing = 4 * np.exp(-(v + 65) / 18), 1 / (1 + np.exp(-(v + 35) / 10)), 0.125 * np.exp(-(v + 65) / 80)
    return opening, closing


def neuron(t, y, p):
    """Hodgkin and Huxley's neuron: voltage, m, h and n; conductances p[:3] and the current p[3]."""
    v, m, h, n = y
    opening, closing = gates(v)
    current = p[3] - p[0] * m**3 * h * (v - 50) - p[1] * n**4 * (v + 77) - p[2] * (v + 54.4)
    return [current, *(a * (1 - x) - b * x for a, b, x in zip(opening, closing, (m, h, n), strict=True))]


def neuron_at_rest():
    opening, closing = gates(-65.0)
    m, h, n = (a / (a + b) for a, b in zip(opening, closing, strict=True))
    current = 120.0 * m**3 * h * -115.0 + 36.0 * n**4 * 12.0 + 0.3 * -10.6
    return np.array([-65.0, m, h, n]), np.array([120.0, 36.0, 0.3, current])


def enzyme(t, y, p):
    """A reversible reaction by an enzyme: enzyme, substrate, complex, product."""
    binding = p[0] * y[0] * y[1] - p[1] * y[2]
    release = p[2] * y[2] - p[3] * y[0] * y[3]
    return [release - binding, -binding, binding - release, release]


def brusselator(t, y, p):
    return [p[0] + y[0] ** 2 * y[1] - (p[1] + 1) * y[0], p[1] * y[0] - y[0] ** 2 * y[1]]


#: Two genes that repress each other, one on (4) and one off (0.25); the rates of making follow.
TOGGLE = np.array([4 * (1 + 0.25**2), 0.25 * (1 + 4.0**3), 50.0])


def toggle(t, y, p):
    return [p[0] / (1 + y[1] ** 2) - y[0], p[2] * (p[1] / (1 + y[0] ** 3) - y[1])]


def dimers(t, y, p):
    """Two monomers make a dimer, which binds a third one: a network in detailed balance at (2, 4, 1)."""
    pair, triple = p[0] * y[0] ** 2 - p[1] * y[1], p[2] * y[0] * y[1] - p[3] * y[2]
    return [-2 * pair - triple, pair - triple, triple]


def predation(t, y, p):
    return [(p[0] - p[1] * y[1]) * y[0], (-p[2] + p[3] * y[0]) * y[1]]


def lorenz(t, y, p):
    return [p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]]


NEURON, CONDUCTANCES = neuron_at_rest()
PROBLEMS = [
    Problem("pendulum upright", pendulum, [0.0, 0.0], [9.81, 1.0], [1.0], [1.0, -0.2], is_at_rest=True),
    Problem("logistic growth at capacity", logistic, [10.0], [2.0, 10.0], [50.0], [1.0], scale=10.0, is_at_rest=True),
    Problem("SIR without disease", sir, [1000.0, 0.0, 0.0], [0.5, 0.2], [30.0], [0.3, 1.0, -0.1], scale=[1000.0, 1.0, 1.0],
            is_at_rest=True),
    Problem("SEIR without disease", seir, [1000.0, 0.0, 0.0, 0.0], [0.8, 5.0, 1.0, 1e-3], [100.0], [0.3, 1.0, 0.5, -0.1],
            scale=[1000.0, 1.0, 1.0, 1.0], is_at_rest=True),
    Problem("FitzHugh and Nagumo at rest", nagumo, [-1.2, (-1.2 + 0.7) / 0.8], NAGUMO, [100.0], spread(2), is_at_rest=True),
    Problem("Hodgkin and Huxley at rest", neuron, NEURON, CONDUCTANCES, [100.0], [1.0, -30.0, 5.0, 70.0],
            scale=[100.0, 1.0, 1.0, 1.0], p_scale=[120.0, 36.0, 0.3, 10.0], is_at_rest=True),
    Problem("enzyme at equilibrium", enzyme, [0.5, 2.0, 1.0, 4.0], [50.0, 50.0, 10.0, 5.0], [60.0], spread(4), is_at_rest=True),
    Problem("Brusselator at its fixed point", brusselator, [1.0, 1.7], [1.0, 1.7], [30.0], spread(2), is_at_rest=True),
    Problem("toggle switch at rest", toggle, [4.0, 0.25], TOGGLE, [50.0], spread(2), is_at_rest=True),
    Problem("dimers at equilibrium", dimers, [2.0, 4.0, 1.0], [30.0, 30.0, 0.1, 0.8], [200.0], spread(3), is_at_rest=True),
    Problem("Lotka and Volterra", predation, [30.0, 4.0], [0.55, 0.028, 0.84, 0.026], [10.0, 20.0], [[1.0, -0.3], [0.7, 2.0]],
            scale=10.0),
    Problem("Lorenz", lorenz, [1.0, 1.0, 1.0], [10.0, 28.0, 8 / 3], [2.0], spread(3), scale=10.0),
]  # fmt: skip
