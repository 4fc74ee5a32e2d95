"""Lotka and Volterra's equations: 1000 steps of Runge and Kutta in a Python loop, 29 000 operations of scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_OBSERVATIONS, _BETWEEN, _STEP = 20, 50, 0.02


def _rates(p: Any, u: Any, v: Any) -> tuple[Any, Any]:
    return (p[0] - p[1] * v) * u, (p[3] * u - p[2]) * v


def _advance(p: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """One step; p begins with the four rates."""
    h = _STEP
    u1, v1 = _rates(p, u, v)
    u2, v2 = _rates(p, u + 0.5 * h * u1, v + 0.5 * h * v1)
    u3, v3 = _rates(p, u + 0.5 * h * u2, v + 0.5 * h * v2)
    u4, v4 = _rates(p, u + h * u3, v + h * v3)
    return u + h / 6 * (u1 + 2 * u2 + 2 * u3 + u4), v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)


def _path(p: Any) -> tuple[list[Any], list[Any]]:
    """Prey and predators at the times of observation."""
    u, v = p[4], p[5]
    prey, predators = [], []
    for _ in range(_OBSERVATIONS):
        for _ in range(_BETWEEN):
            u, v = _advance(p, u, v)
        prey.append(u)
        predators.append(v)
    return prey, predators


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(1925)
    truth = [0.55, 0.028, 0.84, 0.026, 33.0, 6.0, 0.25]
    prey, predators = _path(truth)
    prey = np.log(prey) + 0.25 * random.normal(size=_OBSERVATIONS)
    predators = np.log(predators) + 0.25 * random.normal(size=_OBSERVATIONS)
    return Data(prey=prey, predators=predators), np.log(truth) + 0.05 * random.normal(size=7)


def log_density(library: Library, data: Data) -> Any:
    np = library.np

    def function(theta: Any) -> Any:
        parameters = np.exp(theta)
        p = [parameters[i] for i in range(7)]
        prey, predators = _path(p)
        squares = np.sum((data.prey - np.log(library.array(prey))) ** 2)
        squares = squares + np.sum((data.predators - np.log(library.array(predators))) ** 2)
        return -0.5 * squares / p[6] ** 2 - 2 * _OBSERVATIONS * theta[6] - 0.5 * np.sum(theta**2)

    return function


def with_scan(library: Library, data: Data) -> Any:
    np, scan = library.np, library.own.lax.scan

    def function(theta: Any) -> Any:
        p = np.exp(theta)

        def step(state: Any, _: None) -> tuple[Any, Any]:
            state = _advance(p, *state)
            return state, state

        _, (prey, predators) = scan(step, (p[4], p[5]), None, length=_OBSERVATIONS * _BETWEEN)
        prey, predators = prey[_BETWEEN - 1 :: _BETWEEN], predators[_BETWEEN - 1 :: _BETWEEN]
        squares = np.sum((data.prey - np.log(prey)) ** 2) + np.sum((data.predators - np.log(predators)) ** 2)
        return -0.5 * squares / p[6] ** 2 - 2 * _OBSERVATIONS * theta[6] - 0.5 * np.sum(theta**2)

    return function


def _rates_adjoint(p: Any, u: float, v: float, du: float, dv: float, result: list[float]) -> tuple[float, float]:
    """Add to `result` what the adjoints of the two rates mean for their parameters; return it for u and v."""
    result[0] += du * u
    result[1] -= du * u * v
    result[2] -= dv * v
    result[3] += dv * u * v
    return du * (p[0] - p[1] * v) + dv * p[3] * v, dv * (p[3] * u - p[2]) - du * p[1] * u


def _retreat(p: Any, u: float, v: float, au: float, av: float, result: list[float]) -> tuple[float, float]:
    """The adjoints before a step from (u, v) for those after it."""
    h = _STEP
    u1, v1 = _rates(p, u, v)
    x2, y2 = u + 0.5 * h * u1, v + 0.5 * h * v1
    u2, v2 = _rates(p, x2, y2)
    x3, y3 = u + 0.5 * h * u2, v + 0.5 * h * v2
    u3, v3 = _rates(p, x3, y3)
    s, t = _rates_adjoint(p, u + h * u3, v + h * v3, h / 6 * au, h / 6 * av, result)
    before_u, before_v = au + s, av + t
    s, t = _rates_adjoint(p, x3, y3, h / 3 * au + h * s, h / 3 * av + h * t, result)
    before_u, before_v = before_u + s, before_v + t
    s, t = _rates_adjoint(p, x2, y2, h / 3 * au + 0.5 * h * s, h / 3 * av + 0.5 * h * t, result)
    before_u, before_v = before_u + s, before_v + t
    s, t = _rates_adjoint(p, u, v, h / 6 * au + 0.5 * h * s, h / 6 * av + 0.5 * h * t, result)
    return before_u + s, before_v + t


def by_hand(data: Data) -> Any:
    prey, predators = np.asarray(data.prey).tolist(), np.asarray(data.predators).tolist()

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        p = [math.exp(x) for x in theta.tolist()]
        states = [(p[4], p[5])]
        for _ in range(_OBSERVATIONS * _BETWEEN):
            states.append(_advance(p, *states[-1]))
        inverse = 1 / p[6] ** 2
        squares, of_rates, au, av = 0.0, [0.0] * 4, 0.0, 0.0
        for n in range(_OBSERVATIONS * _BETWEEN, 0, -1):
            if n % _BETWEEN == 0:
                u, v = states[n]
                x, y = prey[n // _BETWEEN - 1] - math.log(u), predators[n // _BETWEEN - 1] - math.log(v)
                squares += x * x + y * y
                au, av = au + inverse * x / u, av + inverse * y / v
            au, av = _retreat(p, *states[n - 1], au, av, of_rates)
        last = squares * inverse - 2 * _OBSERVATIONS
        result = np.array([*(each * rate for each, rate in zip(of_rates, p, strict=False)), au * p[4], av * p[5], last])
        value = -0.5 * squares * inverse - 2 * _OBSERVATIONS * theta[6] - 0.5 * (theta @ theta)
        return float(value), result - theta

    return gradient


CASES = [
    Case(
        "lotka_volterra",
        "Lotka-Volterra, 1000 RK4 steps in a loop",
        make,
        {"numpy": log_density, "scan": with_scan},
        by_hand,
    )
]
