"""Gradients are right, or the solver says that they are not: problems with references of their own, by each one-step method."""

import numpy as np
import pytest

from gradient_problems import PROBLEMS
from gradient_problems.trust import IMPLICIT, METHODS, TOLERANCES, is_expensive, is_hopeless, measured

pytestmark = pytest.mark.thread_unsafe(reason="catches warnings")

#: Those that are not hopeless, and not so expensive that the benchmark alone has them.
COMBINATIONS = [
    pytest.param(name, method, rtol, id=f"{name}-{method}-{rtol:g}")
    for name, problem in PROBLEMS.items()
    for method in METHODS
    for rtol in TOLERANCES
    if not is_hopeless(problem, method) and not is_expensive(problem, method, rtol)
]


@pytest.mark.parametrize(("name", "method", "rtol"), COMBINATIONS)
def test_a_gradient_is_right_or_its_error_is_told(name, method, rtol):
    problem = PROBLEMS[name]
    found = measured(problem, method, rtol)
    assert np.isfinite(found.error), found
    assert found.is_within(problem.allowed * rtol) or found.is_told(), found


def test_there_are_as_many_combinations_as_meant():
    assert len(PROBLEMS) >= 24
    assert len(COMBINATIONS) >= 400
    for method in IMPLICIT:
        assert {each.values[0] for each in COMBINATIONS if each.values[1] == method} == set(PROBLEMS)
    explicit = {each.values[0] for each in COMBINATIONS if each.values[1] == "Tsit5"}
    assert len(explicit) >= 24
    assert {"van der Pol", "Robertson", "Oregonator", "E5", "POLLU"}.isdisjoint(explicit)
