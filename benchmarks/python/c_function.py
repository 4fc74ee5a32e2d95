"""A value and gradient called from C, beside calls of the compiled function from Python.

    PYTHONPATH=SITE python benchmarks/python/c_function.py

prints the table of docs/bridges.md: processor time in microseconds for eight schools, the least of nine batches that take
turns, because the clock of a shared processor changes. Needs numba, whose loops call the C function without Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np

import agrad as ag

Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
BATCHES, CALLS = 9, 20_000


def eight_schools(x):
    mu, tau, z = x[0], np.exp(x[1]), x[2:]
    density = ag.normal_lpdf(Y, mu + tau * z, SIGMA) + ag.normal_lpdf(z, 0.0, 1.0)
    return density + ag.normal_lpdf(mu, 0.0, 5.0) + ag.cauchy_lpdf(tau, 0.0, 5.0) + x[1]


@numba.njit
def calls_of(function, context, x, gradient, count):
    """Sums of values keep the compiler from leaving calls out."""
    total = 0.0
    for _ in range(count):
        total += function(x.size, x.ctypes, gradient.ctypes, context)
    return total


def loops(x: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return, for each way to call the function, a function that does so CALLS times."""
    compiled = ag.compile(ag.value_and_grad(eight_schools))
    f = ag.c_function(compiled, x)
    native, gradient, bound = f.signature("numba"), np.zeros_like(x), compiled.bind(x)
    assert native(x.size, *(each.ctypes.data_as(native.argtypes[1]) for each in (x, gradient)), f.context) == compiled(x)[0]

    def repeated(call: Callable[[], object]) -> Callable[[], object]:
        def loop():
            for _ in range(CALLS):
                call()

        return loop

    return {
        "C function, in a loop of numba": lambda: calls_of(native, f.context, x, gradient, CALLS),
        "compiled function, bound": repeated(bound),
        "compiled function": repeated(lambda: compiled(x)),
        "C function, by its object `f(x)`": repeated(lambda: f(x)),
    }


def microseconds(loop: Callable[[], object]) -> float:
    begin = time.process_time()
    loop()
    return (time.process_time() - begin) / CALLS * 1e6


def main() -> None:
    found = loops(np.linspace(-1, 1, 10))
    least = {name: min(microseconds(loop) for _ in range(2)) for name, loop in found.items()}
    for _ in range(BATCHES):
        least = {name: min(least[name], microseconds(loop)) for name, loop in found.items()}
    print("| value and gradient of eight schools | us | ratio |\n|---|---|---|")
    first = next(iter(least.values()))
    for name, time_of in least.items():
        print(f"| {name} | {time_of:.2f} | {time_of / first:.2f} |")


if __name__ == "__main__":
    main()
