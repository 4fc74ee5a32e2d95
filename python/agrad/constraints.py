"""Constraining transforms: parameters that satisfy constraints, from free numbers, with log Jacobians.

A transform is a value: ``t = ag.constraints.simplex(4)`` has the methods ``t.constrain(free)``, ``t.log_jacobian(free)`` and
``t.unconstrain(value)``. A tree of transforms maps one flat vector, as optimisers and samplers have it, to named parameters::

    tree = ag.constraints.Tree({"rate": ag.constraints.positive(), "share": ag.constraints.simplex(3)})

    def log_density(free):
        p = tree.constrain(free)
        return stan.exponential_lpdf(y, p["rate"]) + tree.log_jacobian(free)
"""

from agrad._constraints.bounds import interval, lower, offset_multiplier, positive, real, upper
from agrad._constraints.matrices import cholesky_correlation, cholesky_covariance, correlation, covariance
from agrad._constraints.transform import Transform
from agrad._constraints.tree import Tree
from agrad._constraints.vectors import (
    log_simplex,
    ordered,
    positive_ordered,
    simplex,
    stochastic_columns,
    stochastic_rows,
    sum_to_zero,
    unit_vector,
)

__all__ = [
    "Transform",
    "Tree",
    "cholesky_correlation",
    "cholesky_covariance",
    "correlation",
    "covariance",
    "interval",
    "log_simplex",
    "lower",
    "offset_multiplier",
    "ordered",
    "positive",
    "positive_ordered",
    "real",
    "simplex",
    "stochastic_columns",
    "stochastic_rows",
    "sum_to_zero",
    "unit_vector",
    "upper",
]


def __dir__() -> list[str]:
    return sorted(__all__)
