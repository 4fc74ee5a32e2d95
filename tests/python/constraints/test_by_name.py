"""Stan's names for the constraining transforms against agrad.constraints, in every name and several values."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import agrad as ag
from agrad import constraints as tr
from agrad._constraints import by_name

#: Name, transform, and what follows the free numbers and the value in calls.
CASES: list[tuple[str, tr.Transform, tuple[Any, ...], tuple[Any, ...]]] = [
    ("lower_bound", tr.lower([1.0, -np.inf]), ([1.0, -np.inf],), ([1.0, -np.inf],)),
    ("upper_bound", tr.upper(2.0), (2.0,), (2.0,)),
    ("lower_upper_bound", tr.interval(-1.0, 2.0, (2, 2)), (-1.0, 2.0), (-1.0, 2.0)),
    ("offset_multiplier", tr.offset_multiplier(1.0, 2.0, 3), (1.0, 2.0), (1.0, 2.0)),
    ("ordered", tr.ordered(3), (), ()),
    ("positive_ordered", tr.positive_ordered(3), (), ()),
    ("simplex", tr.simplex(4), (), ()),
    ("unit_vector", tr.unit_vector(3), (), ()),
    ("sum_to_zero", tr.sum_to_zero(4), (), ()),
    ("sum_to_zero", tr.sum_to_zero((3, 4)), (), ()),
    ("stochastic_row", tr.stochastic_rows(2, 3), (), ()),
    ("stochastic_column", tr.stochastic_columns(2, 3), (), ()),
    ("cholesky_factor_corr", tr.cholesky_correlation(3), (3,), ()),
    ("corr_matrix", tr.correlation(3), (3,), ()),
    ("cholesky_factor_cov", tr.cholesky_covariance(3, 2), (3, 2), ()),
    ("cov_matrix", tr.covariance(3), (3,), ()),
]
each = pytest.mark.parametrize(("name", "transform", "others", "of_value"), CASES, ids=[f"{x[0]}-{x[1].shape}" for x in CASES])


def test_every_name_has_a_case():
    assert {f"{case[0]}_{what}" for case in CASES for what in ("constrain", "jacobian", "unconstrain")} == set(by_name.__all__)
    for name in by_name.__all__:
        function = getattr(ag, name)
        assert function.__name__ == name
        assert "ag.constraints." in function.__doc__


@each
def test_the_functions_are_those_of_the_transform(name, transform, others, of_value):
    constrain, jacobian, unconstrain = (getattr(ag, f"{name}_{what}") for what in ("constrain", "jacobian", "unconstrain"))
    free = np.random.default_rng(5).normal(size=transform.free_shape)
    value = transform.constrain(free)
    np.testing.assert_array_equal(constrain(free, *others), value)
    np.testing.assert_array_equal(jacobian(free, *others)[0], value)
    assert jacobian(free, *others)[1] == transform.log_jacobian(free)
    np.testing.assert_array_equal(unconstrain(value, *of_value), transform.unconstrain(value))
    loss = lambda x: np.sum(constrain(x, *others) ** 3) + jacobian(x, *others)[1]  # noqa: E731
    exact = ag.grad(lambda x: np.sum(transform.constrain(x) ** 3) + transform.log_jacobian(x))(free)
    np.testing.assert_array_equal(ag.grad(loss)(free), exact)
    named = dict(zip(list(inspect.signature(constrain).parameters)[1:], others, strict=True))
    np.testing.assert_array_equal(constrain(y=free, **named), value)


@pytest.mark.parametrize("case", [c for c in CASES if c[0] not in ("lower_bound", "sum_to_zero")], ids=lambda c: c[0])
def test_axes_before_those_of_one_value_are_of_several_values(case):
    name, transform, others, of_value = case
    constrain, jacobian, unconstrain = (getattr(ag, f"{name}_{what}") for what in ("constrain", "jacobian", "unconstrain"))
    free = np.random.default_rng(6).normal(size=(2, 3, *transform.free_shape))
    value, log_jacobian = jacobian(free, *others)
    rows = [transform.constrain(free[i, j]) for i in range(2) for j in range(3)]
    np.testing.assert_array_equal(value, np.reshape(rows, (2, 3, *transform.shape)))
    np.testing.assert_array_equal(constrain(free, *others), value)
    assert log_jacobian == pytest.approx(sum(transform.log_jacobian(free[i, j]) for i in range(2) for j in range(3)), rel=1e-13)
    back = [transform.unconstrain(row) for row in rows]
    np.testing.assert_array_equal(unconstrain(value, *of_value), np.reshape(back, free.shape))
    gradient = ag.grad(lambda x: np.sum(constrain(x, *others) ** 3))(free)
    np.testing.assert_allclose(gradient[1, 2], ag.grad(lambda x: np.sum(transform.constrain(x) ** 3))(free[1, 2]), rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.simplex_constrain(1.0), ag.ShapeError, r"simplex_constrain: y has shape \(\), but must have 1 axis"),
        (lambda: ag.corr_matrix_unconstrain([1.0]), ag.ShapeError, r"x has shape \(1,\), but must have 2 axes"),
        (lambda: ag.corr_matrix_unconstrain(np.ones((2, 3))), ag.ShapeError, r"shape \(2, 3\), but must be square"),
        (lambda: ag.corr_matrix_constrain(np.ones(2), 3), ag.ShapeError, r"free has shape \(2,\), but must have shape \(3,\)"),
        (lambda: ag.simplex_constrain(np.ones((0, 2))), ag.ShapeError, r"y has shape \(0, 2\), but must hold a value"),
        (
            lambda: ag.sum_to_zero_constrain(1.0),
            ag.ShapeError,
            r"sum_to_zero: shape is \(\), but must be a whole number or two",
        ),
        (lambda: ag.sum_to_zero_unconstrain(1.0), ag.ShapeError, r"sum_to_zero: shape is \(\), but must be"),
        (lambda: ag.sum_to_zero_constrain(np.ones((2, 2, 2))), ag.ShapeError, r"shape is \(3, 3, 3\), but must be a whole"),
        (lambda: ag.lower_upper_bound_constrain(0.0, 2.0, 1.0), ag.DomainError, "low is 2.0, but must be less than high = 1.0"),
        (lambda: ag.simplex_unconstrain([0.5, 0.6]), ag.DomainError, "value sums to 1.1"),
        (lambda: ag.corr_matrix_constrain(np.ones(3)), TypeError, "missing a required argument: 'K'"),
    ],
)
def test_faults(call, error, message):
    with pytest.raises(error, match=message):
        call()
