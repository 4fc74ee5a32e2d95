"""Models of pharmacology in the run-in before a dose: everything rests, and the dose is zero."""

from __future__ import annotations

import numpy as np

from gradient_problems.problem import Problem, spread


def indirect_response(t, y, p):
    """Two compartments for a drug, in which it is slow, and a response whose making it inhibits; the baseline is kin / kout."""
    k10, k12, k21, volume, most, half, kin, kout = p
    concentration = y[0] / volume
    inhibition = most * concentration / (half + concentration)
    return [
        -(k10 + k12) * y[0] + k21 * y[1],
        k12 * y[0] - k21 * y[1],
        kin * (1 - inhibition) - kout * y[2],
    ]


def neutrophils(t, y, p):
    """Friberg's model at its baseline p[0]: cells that divide, mature in three stages (p[1] hours in all) and circulate."""
    rate = 4 / p[1]
    feedback = (p[0] / y[4]) ** p[2]
    return [
        rate * y[0] * (feedback * (1 - p[3]) - 1),
        rate * (y[0] - y[1]),
        rate * (y[1] - y[2]),
        rate * (y[2] - y[3]),
        rate * (y[3] - y[4]),
    ]


def binding(t, y, p):
    """A drug that its target disposes of: drug, target at its baseline, complex."""
    kel, kon, koff, made, lost, internal = p
    bound = kon * y[0] * y[1] - koff * y[2]
    return [-kel * y[0] - bound, made - lost * y[1] - bound, bound - internal * y[2]]


def glucose(t, y, p):
    """Bergman's minimal model at the basal state: glucose, the action of insulin, and insulin, which follows quickly."""
    k1, k2, k3, basal, insulin, quick = p
    return [
        k1 * (basal - y[0]) - y[1] * y[0],
        k2 * (k3 * (y[2] - insulin) - y[1]),
        quick * (insulin - y[2]),
    ]


PROBLEMS = [
    Problem(
        "indirect response before its dose", indirect_response, [0.0, 0.0, 20.0],
        [0.01, 0.03, 0.005, 10.0, 0.9, 0.5, 10.0, 0.5], [24.0, 500.0], [[0.0, 0.0, 1.0], [0.3, 0.1, 0.5]],
        scale=[10.0, 10.0, 20.0], is_at_rest=True,
    ),
    Problem(
        "neutrophils at their baseline", neutrophils, lambda p: np.repeat(p[:1], 5), [5.0, 90.0, 0.16, 0.0], [200.0, 700.0],
        [spread(5), spread(5)], scale=5.0, p_scale=[5.0, 90.0, 0.16, 0.1], is_at_rest=True,
    ),
    Problem(
        "binding to a target at its baseline", binding, [0.0, 10.0, 0.0], [0.02, 20.0, 1.0, 0.5, 0.05, 0.1], [10.0, 150.0],
        [spread(3), spread(3)], scale=[1.0, 10.0, 1.0], is_at_rest=True,
    ),
    Problem(
        "glucose at its basal state", glucose, [90.0, 0.0, 7.0], [0.03, 0.02, 1e-3, 90.0, 7.0, 5.0], [300.0],
        [1.0, 2000.0, -3.0], scale=[90.0, 0.01, 7.0], is_at_rest=True,
    ),
]  # fmt: skip
