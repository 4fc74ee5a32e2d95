"""What agrad is to reach, and what the peers took where these goals were set: microseconds a call, NumPy in and NumPy out.

A goal is a ratio to the peers: on another machine it is scaled by the median of (peer's time there) / (peer's time here).
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

__all__ = ["GOALS", "RECORDING", "SCHEDULING", "SECOND_ORDER", "SWEEP_MEMORY", "Goal", "scale"]


@dataclass(frozen=True)
class Goal:
    """Microseconds for a compiled and a plain call, and those of peers."""

    compiled: float
    plain: float | None
    peers: dict[str, float]


# Those of arrays are 1.15 times what fused tiles by hand took.
GOALS = {
    "eight_schools": Goal(3, 60, {"casadi": 0.9, "jax": 49, "torch": 345, "numpy": 12}),
    "logistic_small": Goal(11, 21, {"jax": 34, "numpy": 17.2}),
    "logistic_large": Goal(390, 670, {"jax": 748, "numpy": 672}),
    "hierarchical": Goal(21.5, 60, {"jax": 66, "numpy": 30}),
    "huber": Goal(462, None, {"jax": 780, "numpy": 1203}),
    "huber_rows": Goal(712, None, {"jax": 750, "numpy": 1766}),
    "total_variation": Goal(872, None, {"jax": 900, "numpy": 2698}),
    "gaussian_process_50": Goal(75, 150, {"jax": 172, "torch": 567, "numpy": 153}),
    "gaussian_process_200": Goal(1500, 1800, {"jax": 1794, "torch": 3580, "numpy": 3070}),
    "hidden_markov": Goal(50, 3000, {"casadi": 69, "jax": 294, "numpy": 1450}),
    "garch": Goal(40, 6000, {"casadi": 66, "jax": 120, "numpy": 458}),
    "mixture": Goal(12, 34, {"jax": 37, "numpy": 35}),
    "perceptron": Goal(260, 470, {"jax": 382, "numpy": 326}),
    "lotka_volterra": Goal(500, 30_000, {"casadi": 815, "jax": 3304, "torch": 540_000, "numpy": 3218}),
    # 1.2 times what level-scheduled runs of such a network took, 0.63 forwards and 1.69 backwards, and a call.
    "network": Goal(1.2 * (0.63 + 1.69) + 2, None, {}),
}
SECOND_ORDER = {
    ("product", "logistic_small"): 25,
    ("hessian", "logistic_small"): 90,
    ("product", "garch"): 80,
    ("hessian", "garch"): 400,
}
RECORDING = 0.8  # microseconds an operation of a value and gradient that is recorded, everything included
SCHEDULING = {"1000 operations": 20.0}  # milliseconds of a first call, and linear in the number of operations
SWEEP_MEMORY = 3.0  # times the values that the sweep needs


def scale(case: str, measured: dict[str, float]) -> float:
    """How much slower the peers are here, in the median; 1 without peers."""
    known = GOALS[case].peers
    return statistics.median([measured[peer] / known[peer] for peer in measured.keys() & known.keys()] or [1.0])
