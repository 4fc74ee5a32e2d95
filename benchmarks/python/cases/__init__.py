"""The cases, in the order of the table."""

from cases import (
    eight_schools,
    garch,
    gaussian_process,
    hidden_markov,
    hierarchical,
    huber,
    logistic,
    lotka_volterra,
    mixture,
    network,
    perceptron,
    total_variation,
)
from cases.case import Case, Library

__all__ = ["CASES", "Case", "Library"]

_MODULES = (
    eight_schools,
    logistic,
    hierarchical,
    gaussian_process,
    hidden_markov,
    garch,
    mixture,
    perceptron,
    huber,
    total_variation,
    lotka_volterra,
    network,
)
CASES: dict[str, Case] = {case.name: case for module in _MODULES for case in module.CASES}
