"""What it takes to record a right-hand side, once, beside a call of the compiled function.

    python benchmarks/python/ode/recording.py

A compiled value and gradient through Tsit5; the right-hand side is a loop in Python over so many operations on numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag


def right_hand_side(operations: int) -> Callable[[Any, Any, Any], Any]:
    """Four states; each derivative is a chain of products and sums."""

    def rhs(t: Any, y: Any, p: Any) -> Any:
        slopes = []
        for i in range(4):
            x = y[i]
            for k in range(operations // 8):
                x = 0.1 * np.sin(x * p[k % 4]) if k % 10 == 9 else x * p[k % 4] + y[(i + k) % 4]
            slopes.append(1e-3 * x)
        return slopes

    return rhs


def milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    print("| operations | first call, ms | each later one |\n| --- | --- | --- |")
    p = np.full(4, 0.1)
    for operations in (100, 1000, 10_000):
        first, later = np.inf, np.inf
        for _ in range(5):
            rhs = right_hand_side(operations)
            loss = ag.compile(
                ag.value_and_grad(lambda p, f=rhs: ag.solve_ivp(f, (0.0, 1.0), np.ones(4), "Tsit5", args=(p,)).y[0, -1])
            )
            first = min(first, milliseconds(lambda g=loss: g(p)))
            later = min(later, *(milliseconds(lambda g=loss: g(p)) for _ in range(5)))
        print(f"| {operations} | {first:.1f} | {later:.3f} |")


if __name__ == "__main__":
    main()
