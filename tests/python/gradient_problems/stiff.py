"""The classic stiff problems, with the initial values, end times and final states of the test set for IVP solvers.

References
----------
Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.10; Mazzia and Magherini, Test Set for Initial Value
Problem Solvers, release 2.4 (HIRES, OREGO, ROBER, VDPOL, E5, POLLU).
"""

from __future__ import annotations

import numpy as np

from gradient_problems.pollution import FINAL as POLLUTION_FINAL
from gradient_problems.pollution import RATES, pollution
from gradient_problems.problem import Problem, spread


def hires(t, y, p):
    """High irradiance responses of photomorphogenesis."""
    k1, k2, k3, k4, k5, on, off, made = p
    bound = on * y[5] * y[7]
    freed = (k2 + 2 * off) * y[6]
    return [
        -k1 * y[0] + k2 * y[1] + k3 * y[2] + made,
        k1 * y[0] - (k2 + k3) * y[1],
        -(k3 + k1) * y[2] + k2 * y[3] + k5 * y[4],
        k3 * y[1] + k1 * y[2] - (k2 + k4) * y[3],
        -(k1 + k5) * y[4] + k2 * (y[5] + y[6]),
        -bound + k4 * y[3] + k1 * y[4] - k2 * y[5] + off * y[6],
        bound - freed,
        -bound + freed,
    ]


def oregonator(t, y, p):
    """Belousov's and Zhabotinskii's reaction."""
    s, q, w = p
    return [s * (y[1] + y[0] * (1 - q * y[0] - y[1])), (y[2] - (1 + y[0]) * y[1]) / s, w * (y[0] - y[2])]


def robertson(t, y, p):
    a, b, c = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return [-a + b, a - b - c, c]


def van_der_pol(t, y, p):
    return [y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]


def e5(t, y, p):
    a, b, cm, c = p[:4]
    first, second, third, fourth = a * y[0], b * y[0] * y[2], cm * y[1] * y[2], c * y[3]
    # The third as difference of the two others (Hairer and Wanner): rounded otherwise, late states of 1e-22 have no digit.
    return [-first - second, first - third, (first - third) - (second - fourth), second - fourth]


def e5_start(p):
    """The first state alone is not zero. The others stay out: late derivatives with respect to them hang on states of 1e-22."""
    return [p[4], 0 * p[4], 0 * p[4], 0 * p[4]]


HIRES_FINAL = [
    0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
    0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
]  # fmt: skip
#: Sizes of E5's states, and what tolerances go by: with states of 1e-22 that are off by 1e-17 the system is unstable.
E5_SIZES = np.array([1.76e-3, 1e-9, 1e-11, 1e-9])
E5_TINY = np.array([1.76e-3, 1e-14, 1e-14, 1e-14])
ROBERTSON_WEIGHTS = np.tile([1.0, 1e4, 0.3], (6, 1))

PROBLEMS = [
    Problem(
        "HIRES", hires, [1.0, 0, 0, 0, 0, 0, 0, 0.0057], [1.71, 0.43, 8.32, 0.69, 0.035, 280.0, 0.69, 0.0007], [321.8122],
        spread(8), scale=1e-2, published=np.array(HIRES_FINAL),
    ),
    Problem(
        "Oregonator", oregonator, [1.0, 2.0, 3.0], [77.27, 8.375e-6, 0.161], [360.0], spread(3),
        published=np.array([0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3]),
    ),
    Problem(
        "Robertson", robertson, [1.0, 0.0, 0.0], [0.04, 1e4, 3e7], [0.4, 40.0, 4e3, 4e5, 4e7, 1e11], ROBERTSON_WEIGHTS,
        scale=[1.0, 1e-4, 1.0], published=np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]),
    ),
    Problem(
        "van der Pol", van_der_pol, [2.0, 0.0], [1000.0], [2000.0], [1.0, 300.0], scale=[1.0, 1e-3], by_differences=True,
        published=np.array([0.1706167732170469e1, -0.8928097010248125e-3]),
    ),
    Problem(
        "E5", e5, e5_start, [7.89e-10, 1.1e7, 1.13e9, 1.13e3, 1.76e-3], [10.0, 1e3, 1e5, 1e7, 1e9, 1e11, 1e13],
        np.tile(1 / E5_SIZES, (7, 1)), scale=E5_TINY,
        published=np.array([0.1152903278711829e-290, 0.8867655517642120e-22, 0.8854814626268838e-22, 0.0]),
    ),
    Problem(
        "POLLU", pollution, np.bincount([1, 3, 6, 7, 8, 16], [0.2, 0.04, 0.1, 0.3, 0.01, 0.007], 20), RATES, [60.0], spread(20),
        scale=0.1, published=np.array(POLLUTION_FINAL),
    ),
]  # fmt: skip
