"""Distribution functions of first passage times: values and derivatives to second order by mpmath, and what they must obey."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad as ag
from first_passages import derivatives

TAILS = {"wiener_lcdf_unnorm": False, "wiener_lccdf_unnorm": True}
each_tail = pytest.mark.parametrize("name", TAILS)

#: y, alpha, tau, beta, delta.
POINTS = [
    (1.5, 1.2, 0.2, 0.4, 0.7),  # late
    (0.9, 1.5, 0.3, 0.7, -0.6),  # between 0.15 and 0.45 alpha^2
    (0.5, 2.0, 0.1, 0.55, 1.3),  # early
    (0.25, 1.0, 0.2, 0.35, -3.0),
    (0.9, 2.5, 0.1, 0.2, 12.0),  # most have passed
    (0.45, 3.0, 0.1, 0.6, 15.0),
    (0.6, 1.5, 0.0, 0.02, 9.0),  # beside the lower boundary, most of the few that pass above have passed
    (0.8, 0.9, 0.4, 0.9, -15.0),
    (2.0, 4.0, 0.5, 0.3, 0.0),
    (1.2, 1.1, 0.7, 0.5, 0.0),
    (0.3, 1.5, 0.1, 0.97, 0.4),  # beside the upper boundary
    (0.7, 1.5, 0.1, 1 - 1e-6, -1.0),
    (0.7, 1.5, 0.1, 1e-6, 1.0),
    (3.0, 1.0, 0.1, 1e-6, -2.0),
    (40.0, 1.0, 0.1, 0.6, 0.5),
    (0.201, 1.0, 0.2, 0.6, 0.5),
]


def scales(point: tuple[float, ...], value: float) -> np.ndarray:
    """Return what a derivative by each argument would be if the logarithm depended on the scaled time, beta and drift alike.

    A derivative that is much less, as that by delta is for delta = 0 far from the boundary, is a difference of large parts.
    """
    y, alpha, tau, _, delta = point
    return np.array([1 / (y - tau), 2 / alpha + abs(delta), 1 / (y - tau), 1, alpha]) * min(1.0, abs(value)) ** 0.5


@pytest.mark.parametrize("point", POINTS, ids=str)
@each_tail
def test_values_and_derivatives_to_second_order(name: str, point: tuple[float, ...]) -> None:
    tail = getattr(ag, name)
    value, gradient, hessian = derivatives(TAILS[name], point)
    scale, x = scales(point, value), np.array(point)
    found = ag.value_and_grad(lambda x: tail(*x))(x)
    assert tail(*point) == pytest.approx(value, rel=1e-14, abs=0)
    assert found[0] == pytest.approx(value, rel=1e-14, abs=0)
    np.testing.assert_array_less(np.abs(found[1] - gradient), 1e-13 * (np.abs(gradient) + scale))
    second = ag.hessian(lambda x: tail(*x))(x)
    np.testing.assert_array_less(np.abs(second - hessian), 2e-12 * (np.abs(hessian) + np.outer(scale, scale)))


def test_passages_before_and_after_are_those_through_the_upper_boundary() -> None:
    for y, alpha, tau, beta, delta in POINTS:
        before, after = (getattr(ag, name)(y, alpha, tau, beta, delta) for name in TAILS)
        ever = beta if delta == 0 else np.expm1(-2 * delta * alpha * beta) / np.expm1(-2 * delta * alpha)
        assert np.logaddexp(before, after) == pytest.approx(np.log(ever), rel=1e-13, abs=1e-15)
        at_once = ag.wiener_lccdf_unnorm(y, alpha, y, beta, delta)
        assert at_once == pytest.approx(np.log(ever), rel=1e-13, abs=1e-15)


def test_the_derivative_by_time_is_the_density() -> None:
    for point in POINTS:
        density = ag.wiener_lpdf(*point)
        for name, sign in (("wiener_lcdf_unnorm", 1), ("wiener_lccdf_unnorm", -1)):
            value, slope = ag.value_and_grad(getattr(ag, name))(*point)
            assert np.log(sign * slope) + value == pytest.approx(density, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("beta", "delta"), [(0.3, 0.0), (0.6, 2.5), (0.04, 9.0), (0.999, -4.0), (1e-5, 0.5)])
def test_probabilities_are_monotone_where_series_change(beta: float, delta: float) -> None:
    times = np.unique(np.concatenate([np.geomspace(1e-3, 20, 400), [np.nextafter(s, k) for s in (0.15, 0.45) for k in (0, 1)]]))
    tails = [getattr(ag, name) for name in TAILS]
    before, after = (ag.compile(ag.vmap(lambda y, tail=tail: tail(y, 1.0, 0.0, beta, delta)))(times) for tail in tails)
    assert np.all(np.diff(before) >= -4e-15 * np.abs(before[1:]))
    assert np.all(np.diff(after) <= 4e-15 * np.abs(after[1:]))


def test_no_passage_is_before_tau() -> None:
    gradient = {name: ag.value_and_grad(getattr(ag, name), argnums=tuple(range(5))) for name in TAILS}
    for y in (0.1, 0.3):
        value, slopes = gradient["wiener_lcdf_unnorm"](y, 1.5, 0.3, 0.4, 0.7)
        assert value == -np.inf
        assert not np.any(slopes)
        value, slopes = gradient["wiener_lccdf_unnorm"](y, 1.5, 0.3, 0.4, 0.7)
        late = gradient["wiener_lcdf_unnorm"](1e3, 1.5, 0.3, 0.4, 0.7)
        assert value == pytest.approx(late[0], rel=1e-14)
        np.testing.assert_allclose(slopes, late[1], rtol=1e-13, atol=1e-300)


@each_tail
def test_extreme_times_and_starts_have_finite_derivatives(name: str) -> None:
    tail = ag.value_and_grad(getattr(ag, name), argnums=tuple(range(5)))
    for y in (1e-9, 1e-4, 1.0, 1e4, 1e100):
        for beta in (1e-100, 1e-9, 0.5, 1 - 2.0**-53):
            for delta in (-1e4, -1e-300, 0.0, 1e-300, 1e4):
                value, gradient = tail(y, 1.0, 0.0, beta, delta)
                assert np.all(np.isfinite([value, *gradient])), (y, beta, delta)


@each_tail
def test_arguments_broadcast_and_are_checked(name: str) -> None:
    tail: Any = getattr(ag, name)
    y, delta = np.array([0.5, 0.9, 1.4]), np.array([-1.0, 0.0, 2.0])
    single = [tail(a, 1.2, 0.1, 0.4, b) for a, b in zip(y, delta, strict=True)]
    assert tail(y, 1.2, 0.1, 0.4, delta) == pytest.approx(sum(single), rel=1e-15)
    np.testing.assert_allclose(ag.vmap(lambda a, b: tail(a, 1.2, 0.1, 0.4, b))(y, delta), single, rtol=1e-15)
    with pytest.raises(TypeError):
        tail(y, 1.2, 0.1, 0.4, delta, propto=True)
    compiled = ag.compile(tail)
    compiled(y, 1.2, 0.1, 0.4, delta)
    for function in (tail, compiled):
        for k, bad, message in (
            (0, np.array([0.5, np.inf, 1.4]), r"y\[1\] is inf, but must be positive and finite"),
            (1, 0.0, "alpha is 0, but must be positive and finite"),
            (2, -0.1, "tau is -0.1, but must be nonnegative and finite"),
            (3, 1.0, "beta is 1, but must be between 0 and 1, not 0 or 1"),
            (4, np.array([0.0, 0.0, np.nan]), r"delta\[2\] is nan, but must be finite"),
        ):
            arguments = [y, 1.2, 0.1, 0.4, delta]
            arguments[k] = bad
            with pytest.raises(ag.DomainError, match=f"{name}: {message}"):
                function(*arguments)
