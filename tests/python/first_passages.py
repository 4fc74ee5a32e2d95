"""First passage times of the Wiener process through the upper boundary, by mpmath: a witness of agrad's distribution functions.

Early passages are summed over images of the start, as normal probabilities, and late ones over sines; each complement is the
difference from the probability that the upper boundary is reached at all, with digits enough for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath

#: Digits, and the step h of differences, whose errors are of order h squared.
DIGITS, STEP = 90, "1e-20"


def ever(mp: Any, w: Any, v: Any) -> Any:
    """Return the probability that the upper boundary is reached, from the share w and the drift v in units of alpha."""
    return w if v == 0 else mp.expm1(-2 * v * w) / mp.expm1(-2 * v)


def by_images(mp: Any, s: Any, w: Any, v: Any) -> Any:
    """Return the probability of passages up to the scaled time s: inverse Gaussian probabilities with alternating signs."""
    u, root, total = 1 - w, mp.sqrt(s), mp.mpf(0)
    for k in range(400):
        last = mp.mpf(0)
        for distance in {u + 2 * k, u - 2 * k}:
            a = abs(distance)
            part = mp.exp(v * (u - a)) * mp.ncdf((v * s - a) / root) + mp.exp(v * (u + a)) * mp.ncdf((-v * s - a) / root)
            total += mp.sign(distance) * part
            last = max(last, part)
        if last < mp.eps * total:
            return total
    raise ArithmeticError("too many images")


def by_sines(mp: Any, s: Any, w: Any, v: Any) -> Any:
    """Return the probability of passages after the scaled time s: Feller's series, integrated term by term."""
    u, total = 1 - w, mp.mpf(0)
    for k in range(1, 400):
        size = k * mp.exp(-((k * mp.pi) ** 2) * s / 2) / (v * v + (k * mp.pi) ** 2)
        total += size * mp.sin(k * mp.pi * u)
        if size < mp.eps * abs(total):
            return 2 * mp.pi * mp.exp(v * u - v * v * s / 2) * total
    raise ArithmeticError("too many sines")


def _log(mp: Any, after: bool, x: Sequence[Any]) -> Any:
    y, alpha, tau, beta, delta = x
    s, v = (y - tau) / alpha**2, delta * alpha
    early = s < (0.05 if after else 0.5)
    part = (by_images if early else by_sines)(mp, s, beta, v)
    return mp.log(part if early != after else ever(mp, beta, v) - part)


def _context() -> Any:
    mp = mpmath.MPContext()
    mp.dps = DIGITS
    return mp


def log_probability(after: bool, *x: float) -> float:
    """Return the logarithm of the probability of passages after y, or up to y; x is y, alpha, tau, beta, delta."""
    mp = _context()
    return float(_log(mp, after, [mp.mpf(float(e)) for e in x]))


def derivatives(after: bool, x: Sequence[float]) -> tuple[float, list[float], list[list[float]]]:
    """Return the same, its gradient and Hessian, by differences with many digits."""
    mp = _context()
    at, h, places = [mp.mpf(e) for e in x], mp.mpf(STEP), range(5)
    known: dict[tuple[int, ...], Any] = {}

    def f(**moves: int) -> Any:
        steps = tuple(moves.get(f"x{i}", 0) for i in places)
        if steps not in known:
            known[steps] = _log(mp, after, [a + k * h for a, k in zip(at, steps, strict=True)])
        return known[steps]

    def second(i: int, j: int) -> Any:
        if i == j:
            return f(**{f"x{i}": 1}) - 2 * f() + f(**{f"x{i}": -1})
        corners: Callable[[int, int], Any] = lambda p, q: f(**{f"x{i}": p, f"x{j}": q})  # noqa: E731
        return (corners(1, 1) - corners(1, -1) - corners(-1, 1) + corners(-1, -1)) / 4

    gradient = [float((f(**{f"x{i}": 1}) - f(**{f"x{i}": -1})) / (2 * h)) for i in places]
    return float(f()), gradient, [[float(second(min(i, j), max(i, j)) / h**2) for j in places] for i in places]
