"""The truth about elementwise functions: the rows' reference expressions, evaluated by mpmath with as many digits as it takes.

A row says in `reference` what the function is in mpmath (nothing: mpmath's function of its name); values and derivatives
here come from that expression alone, so a new rule is tested by being in its family's list.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mpmath
import numpy as np
import scipy.special
from mpmath import mp

from agrad._core import ElementwiseRow, elementwise_rows
from special_reference import (
    MOST_DIGITS,
    UndefinedError,
    bessel_i_of_order,
    bessel_j,
    bessel_k,
    bessel_k_of_order,
    bessel_y,
    log_bessel_i,
    lower_beta,
    lower_beta_inverse,
    lower_gamma,
    owens_t,
    upper_gamma,
)
from stored_references import stored

ROWS = elementwise_rows()


def ufunc_of(row: ElementwiseRow) -> np.ufunc | None:
    """NumPy's or SciPy's ufunc of the row's name for it, if there is one."""
    found = getattr(np, row.ufunc, None) or getattr(scipy.special, row.ufunc, None)
    return found if isinstance(found, np.ufunc) else None


_NAMES = {name: getattr(mpmath, name) for name in dir(mpmath) if not name.startswith("_")} | {
    "max": max,
    "min": min,
    "int": int,
    "bessel_i_of_order": bessel_i_of_order,
    "bessel_j": bessel_j,
    "bessel_k": bessel_k,
    "bessel_k_of_order": bessel_k_of_order,
    "bessel_y": bessel_y,
    "log_bessel_i": log_bessel_i,
    "lower_beta": lower_beta,
    "lower_beta_inverse": lower_beta_inverse,
    "lower_gamma": lower_gamma,
    "owens_t": owens_t,
    "upper_gamma": upper_gamma,
}
_SLOW = re.compile("lower_beta|owens_t|bessel_k_of_order|bessel_i_of_order|log_bessel_i")


def affordable(row: ElementwiseRow, count: int) -> int:
    """So many points, or fewer, but twelve, where mpmath takes milliseconds for a value."""
    return min(count, max(count // 6, 12)) if _SLOW.search(row.reference) else count


def _expression(row: ElementwiseRow) -> Callable[..., Any]:
    names = ", ".join("xyz"[: row.arity])
    return eval(f"lambda {names}: {row.reference or f'{row.name}({names})'}", dict(_NAMES))


def _digits(numbers: Sequence[Any]) -> int:
    """So many that sums of the numbers keep 60 digits of the smallest."""
    sizes = [float(mp.log10(abs(x))) for x in numbers if x != 0 and mp.isfinite(x)] + [0.0]
    return int(60 + max(sizes) - min(sizes))


def _settled(compute: Callable[[], Any], digits: int) -> Any:
    """What `compute` gives when more digits no longer change it; a zero is believed last."""
    last = None
    while digits <= MOST_DIGITS:
        with mp.workdps(digits):
            now = compute()
            if last is not None and abs(now - last) <= abs(now) * mp.mpf(10) ** -40 and (now != 0 or 2 * digits > MOST_DIGITS):
                return now
        digits, last = 2 * digits, now
    if last is not None and abs(last) < mp.mpf(10) ** (-MOST_DIGITS // 4):
        return mp.mpf(0)  # what is left of it vanishes with the rounding
    raise UndefinedError("no settled value")


def _evaluate(f: Callable[..., Any], point: Sequence[Any]) -> Any:
    try:
        y = f(*(mp.mpf(x) for x in point))
    except (ArithmeticError, ValueError, mpmath.libmp.ComplexResult) as error:
        raise UndefinedError(str(error)) from error
    if isinstance(y, mpmath.mpc) or not mp.isfinite(y):
        raise UndefinedError("no real number")
    return mp.mpf(y)


def value(row: ElementwiseRow, point: Sequence[float]) -> Any:
    """The function at a point of doubles, an mpf."""
    f = _expression(row)
    return stored(lambda: _settled(lambda: _evaluate(f, point), _digits(point)), row.name, row.reference, point, ())


def _step(row: ElementwiseRow, point: Sequence[float], wrt: int) -> Any:
    """Small against the argument, against 1 and against the distance to the ends of the domain."""
    x, (lower, upper, _) = mp.mpf(point[wrt]), row.domain[wrt]
    room = [abs(x), mp.mpf(1)] if x != 0 else [mp.mpf(1)]
    room += [abs(x - mp.mpf(end)) for end in (lower, upper) if math.isfinite(end)]
    return min(room) * mp.mpf(10) ** -30


def derivative(row: ElementwiseRow, point: Sequence[float], *wrt: int) -> Any:
    """The partial derivative with respect to the arguments named (one or two of them), by central differences."""
    f = _expression(row)
    with mp.workdps(MOST_DIGITS):
        steps = [_step(row, point, place) for place in wrt]

    def difference(at: list[Any], rest: list[tuple[int, Any]]) -> Any:
        if not rest:
            return _evaluate(f, at)
        (place, h), left, right = rest[0], list(at), list(at)
        left[place], right[place] = mp.mpf(at[place]) - h, mp.mpf(at[place]) + h
        above, below = difference(right, rest[1:]), difference(left, rest[1:])
        rounding = max(abs(above), abs(below)) * mp.mpf(10) ** (10 - mp.dps)
        return (above - below) / (2 * h) if abs(above - below) > rounding else mp.mpf(0)

    def settled() -> Any:
        return _settled(
            lambda: difference(list(point), list(zip(wrt, steps, strict=True))), _digits([*point, *steps]) * len(wrt)
        )

    return stored(settled, row.name, row.reference, point, wrt)


def size_around_a_root(function: Callable[[Sequence[float]], Any], point: Sequence[float]) -> Any:
    """The most that the function differs between both sides, a sixteenth of an argument away, if its sign does; else 0."""
    largest = mp.mpf(0)
    for place, x in enumerate(point):
        try:
            left, right = (function([*point[:place], x * factor, *point[place + 1 :]]) for factor in (0.9375, 1.0625))
        except UndefinedError:
            continue
        if left * right < 0:
            largest = max(largest, abs(right - left))
    return largest


# ---- points ----------------------------------------------------------------------------------------------------------


def _size(generator: np.random.Generator, widest: float, end: float) -> float:
    """A distance from 1/widest to widest, of any order of magnitude, that does not vanish beside the end it is added to."""
    smallest = 1 / widest if end == 0 else max(1 / widest, 1e-15)
    return float(10.0 ** generator.uniform(math.log10(smallest), math.log10(widest)))


def _argument(generator: np.random.Generator, domain: tuple[float, float, bool], widest: float) -> float:
    lower, upper, whole = domain
    sign = float(generator.choice([-1, 1]))
    if whole:
        first, count = (int(lower), 6) if math.isfinite(lower) else (-6, 12)
        return float(generator.integers(first, int(min(upper, first + count))))
    if math.isfinite(lower) and math.isfinite(upper):
        end, widest = (upper, min(widest, 1e15)) if sign > 0 else (lower, min(widest, 1e15))
        size = _size(generator, widest, end)
        return end - sign * (upper - lower) / 2 * min(size, 1 / size)
    if math.isfinite(lower):
        return lower + _size(generator, widest, lower)
    if math.isfinite(upper):
        return upper - _size(generator, widest, upper)
    return sign * _size(generator, widest, 0.0)


def points(row: ElementwiseRow, count: int, widest: float) -> Iterator[list[float]]:
    """Points of the row's domain, always the same; sizes and distances to its ends are from 1/widest to widest."""
    generator = np.random.default_rng([count, *row.name.encode()])
    for _ in range(count):
        yield [_argument(generator, domain, widest) for domain in row.domain]
