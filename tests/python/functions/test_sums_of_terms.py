"""Sums of densities' terms in compiled functions, which formulas compute eight at a time, against the same terms one by one."""

from __future__ import annotations

import numpy as np
import pytest

import agrad as ag
from probability_reference import ROWS, VALUES

N = 37
SUMS = [name for name, row in ROWS.items() if not row.is_product]


def is_whole(condition: str) -> bool:
    return condition.startswith(("a whole", "0 or 1"))


def argument(name: str, k: int, condition: str, *, is_array: bool) -> np.ndarray | float:
    """Return values of argument k: N of them, in another order for each argument, or one."""
    values = VALUES[condition]
    if name.endswith("_lbetween") and k < 2:
        values = values[len(values) // 2 :] if k == 1 else values[: len(values) // 2]
    if not is_array:
        return values[(len(values) // 2 + k) % len(values)]
    chosen = np.array([values[(i * (2 * k + 1) + i // len(values) + k) % len(values)] for i in range(N)])
    return chosen if is_whole(condition) else chosen * (1 + 0.01 * np.sin(np.arange(N)))


def one_by_one(f, x: list) -> tuple[float, list, float, list]:
    """Return the sum of f at each entry and its derivatives, and the sums of their sizes; None where f refuses an entry."""
    value, size = 0.0, 0.0
    slopes = [np.zeros_like(each) for each in x]
    sizes = [np.zeros_like(each) for each in x]
    for i in range(N):
        at = [float(each[i]) if np.ndim(each) else each for each in x]
        term, derivatives = f(at)
        value, size = value + term, size + abs(term)
        for k, d in enumerate(derivatives):
            place = i if np.ndim(x[k]) else ()
            slopes[k][place] += d
            sizes[k][place] += abs(d)
    return value, slopes, size, sizes


@pytest.mark.parametrize("arrays", ["first", "all", "parameters"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_those_of_single_terms(name, arrays):
    row, function = ROWS[name], getattr(ag, name)
    conditions = [condition for _, condition in row.arguments]
    choices = [arrays == "all" or (k == 0) == (arrays == "first") for k in range(len(conditions))]
    if not any(choices):
        pytest.skip("the function has no parameters")
    x = [argument(name, k, c, is_array=choice) for k, (c, choice) in enumerate(zip(conditions, choices, strict=True))]
    whole = [k for k, c in enumerate(conditions) if is_whole(c)]

    def f(given):
        return function(*(np.asarray(x[k], int) if k in whole else given[k] for k in range(len(given))))

    def of_one(given):
        return ag.value_and_grad(lambda at: function(*(int(given[k]) if k in whole else at[k] for k in range(len(at)))))(given)

    try:
        expected, slopes, size, sizes = one_by_one(of_one, [np.asarray(each, float) for each in x])
    except ag.DomainError:
        pytest.skip("the values do not meet conditions on two arguments")
    start = [np.asarray(each, float) for each in x]
    value, gradient = ag.compile(ag.value_and_grad(f))(start)
    if not np.isfinite(expected):
        assert value == expected or (np.isnan(value) and np.isnan(expected))
        return
    assert abs(value - expected) <= 1e-13 * size
    assert abs(ag.compile(f)(start) - value) <= 1e-13 * size
    for k in range(len(x)):
        with np.errstate(invalid="ignore"):
            near = np.abs(gradient[k] - slopes[k]) <= 1e-11 * np.max(sizes[k])
        assert np.all(near | (gradient[k] == slopes[k])), (k, gradient[k], slopes[k])
