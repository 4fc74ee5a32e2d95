"""POLLU: 25 reactions of 20 pollutants of air (Verwer 1994; test set for IVP solvers)."""

from __future__ import annotations

import numpy as np

RATES = np.array([
    0.35, 26.6, 12.3e3, 0.86e-3, 0.82e-3, 15e3, 0.13e-3, 24e3, 16.5e3, 9e3, 0.022, 12e3, 1.88,
    16.3e3, 4.8e6, 0.35e-3, 0.0175, 1e8, 0.444e12, 1.24e3, 2.1, 5.78, 0.0474, 1.78e3, 3.12,
])  # fmt: skip

#: The species that react, counted from 1, reaction by reaction.
REACTANTS = [
    (1,), (2, 4), (5, 2), (7,), (7,), (7, 6), (9,), (9, 6), (11, 2), (11, 1), (13,), (10, 2), (14,),
    (1, 6), (3,), (4,), (4,), (16,), (16,), (17, 6), (19,), (19,), (1, 4), (19, 1), (20,),
]  # fmt: skip

#: For each species the reactions, counted from 1, that it comes from (+) and goes into (-).
BALANCE = [
    (-1, -10, -14, -23, -24, 2, 3, 9, 11, 12, 22, 25), (-2, -3, -9, -12, 1, 21), (-15, 1, 17, 19, 22), (-2, -16, -17, -23, 15),
    (-3, 4, 4, 6, 7, 13, 20), (-6, -8, -14, -20, 3, 18, 18), (-4, -5, -6, 13), (4, 5, 6, 7), (-7, -8), (-12, 7, 9),
    (-9, -10, 8, 11), (9,), (-11, 10), (-13, 12), (14,), (-18, -19, 16), (-20,), (20,), (-21, -22, -24, 23, 25), (-25, 24),
]  # fmt: skip

FINAL = [
    0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2, 0.2018977262302196e-6,
    0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018, 0.7494013383880406e-2, 0.1622293157301561e-7,
    0.1135863833257075e-7, 0.2230505975721359e-2, 0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2,
    0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5, 0.5682943292316392e-4,
]  # fmt: skip


def pollution(t, y, p):
    flow = [rate * y[reactants[0] - 1] for rate, reactants in zip(p, REACTANTS, strict=True)]
    flow = [r * y[reactants[1] - 1] if len(reactants) == 2 else r for r, reactants in zip(flow, REACTANTS, strict=True)]
    return [sum(flow[k - 1] if k > 0 else -flow[-k - 1] for k in balance) for balance in BALANCE]
