"""Parabolic equations by the method of lines, on the unit interval."""

from __future__ import annotations

import numpy as np

from gradient_problems.problem import Problem, spread


def laplacian(y, left, right):
    """Second differences, with the values beyond the ends given."""
    return np.concatenate([y[1:], right]) - 2 * y + np.concatenate([left, y[:-1]])


def heat(t, y, p):
    """Ends at zero; p[0] is the diffusivity."""
    return p[0] * (len(y) + 1) ** 2 * laplacian(y, [0.0], [0.0])


def heat_between(t, y, p):
    """Ends at the temperatures p[1] and p[2]."""
    return p[0] * (len(y) + 1) ** 2 * laplacian(y, p[1:2], p[2:3])


def tube(t, y, p):
    """A tube with dispersion p[0] and velocity p[1], which the concentration p[2] flows into."""
    before = np.concatenate([p[2:3], y[:-1]])
    return p[0] * len(y) ** 2 * laplacian(y, p[2:3], y[-1:]) - p[1] * len(y) * (y - before)


def source(t, y, p):
    """Diffusion p[0] without flux through the ends, of what is made at a rate p[1] and lost at a rate p[2]."""
    return p[0] * len(y) ** 2 * laplacian(y, y[:1], y[-1:]) + p[1] - p[2] * y


def fisher(t, y, p):
    """Fisher's equation: diffusion p[0] and growth p[1], without flux through the ends."""
    return p[0] * len(y) ** 2 * laplacian(y, y[:1], y[-1:]) + p[1] * y * (1 - y)


def cells(n):
    return (np.arange(n) + 0.5) / n


def settlers(n):
    """Where Fisher's population begins; a function of p by name, for derivatives with respect to p alone."""
    population = 0.8 * np.exp(-(((cells(n) - 0.1) / 0.1) ** 2))
    return lambda p: population + 0 * p[0]


PROBLEMS = [
    Problem("heat, 20 cells", heat, np.sin(np.pi * np.arange(1, 21) / 21), [1.0], [0.1], spread(20)),
    Problem(
        "heat between two walls, 20 cells", heat_between, 1 + np.arange(1, 21) / 21, [0.5, 1.0, 2.0], [3.0], spread(20),
        scale=2.0, is_at_rest=True,
    ),
    Problem("tube, 100 cells", tube, np.full(100, 0.5), [0.02, 0.5, 0.5], [4.0], spread(100), scale=0.5, is_at_rest=True),
    Problem("diffusion with a source, 500 cells", source, np.full(500, 4.0), [0.02, 2.0, 0.5], [4.0], spread(500), scale=4.0,
            is_at_rest=True),
    Problem("Fisher, 60 cells", fisher, settlers(60), [0.01, 5.0], [0.5, 2.0], [spread(60), spread(60)]),
    Problem("Fisher, 500 cells", fisher, settlers(500), [0.01, 5.0], [0.5, 2.0], [spread(500), spread(500)]),
]  # fmt: skip
