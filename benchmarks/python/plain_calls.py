"""Plain calls of searches and integrals beside SciPy, and the same in compiled functions.

    PYTHONPATH=SITE python benchmarks/python/plain_calls.py

prints the table of docs/performance_python.md. Times are microseconds of processor time, the least of nine batches; the
functions take turns, because the clock of a shared processor changes. SciPy's quad evaluates the function at 21 nodes, agrad's
at 168.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.integrate
import scipy.optimize

import agrad as ag

ORIGIN = np.zeros(2)


def cubic(x):
    return x**3 - 2 * x - 5


def bell(x):
    return np.exp(-x * x)


def bowl(x):
    return np.sum((x - 1) ** 2)


ROOT = ag.compile(lambda a: ag.root(lambda x: x**3 - a * x - 5, 2.0).x)
AREA = ag.compile(lambda a: ag.quad(lambda x: np.exp(-a * x * x), 0.0, 2.0)[0])
LOWEST = ag.compile(lambda a: ag.minimize(lambda x: np.sum((x - a) ** 2), ORIGIN).x)

# What is called, by agrad plainly, in a compiled function, and by SciPy.
ROWS: dict[str, tuple[Callable[[], object], Callable[[], object] | None, Callable[[], object] | None]] = {
    "`root`, a cubic": (lambda: ag.root(cubic, 2.0), lambda: ROOT(2.0), lambda: scipy.optimize.root(cubic, 2.0)),
    "`quad`, `exp(-x * x)`": (lambda: ag.quad(bell, 0.0, 2.0), lambda: AREA(1.0), lambda: scipy.integrate.quad(bell, 0.0, 2.0)),
    "`minimize`, two squares": (
        lambda: ag.minimize(bowl, ORIGIN),
        lambda: LOWEST(1.0),
        lambda: scipy.optimize.minimize(bowl, ORIGIN),
    ),
    "`steady_state`, one state": (lambda: ag.steady_state(lambda t, y: 1 - y, [0.5]), None, None),
}


def batch(call: Callable[[], object]) -> float:
    """Returns the microseconds of a call, from as many as take 20 ms or so."""
    begin, count = time.process_time(), 0
    while time.process_time() - begin < 0.02:
        for _ in range(10):
            call()
        count += 10
    return (time.process_time() - begin) / count * 1e6


def main() -> None:
    calls = [call for row in ROWS.values() for call in row if call is not None]
    for call in calls:
        call()
    times = {id(call): batch(call) for call in calls}
    for _ in range(8):
        for call in calls:
            times[id(call)] = min(times[id(call)], batch(call))
    print("| one call, us of processor time | agrad | in a compiled function | SciPy | agrad / SciPy |")
    print("|---|---|---|---|---|")
    for name, row in ROWS.items():
        plain, compiled, scipys = (None if call is None else times[id(call)] for call in row)
        ratio = "" if scipys is None else f"{plain / scipys:.2g}"
        cells = ["" if each is None else f"{each:.3g}" for each in (plain, compiled, scipys)]
        print(f"| {name} | {' | '.join(cells)} | {ratio} |")


if __name__ == "__main__":
    main()
