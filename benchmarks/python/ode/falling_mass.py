"""Prints errors of solve_dae where the derivatives of the residual change by orders of magnitude.

    python benchmarks/python/ode/falling_mass.py

The residual exp(c t) (y' - 2 y) has the solution exp(2 t) for any c. An entry has the relative errors of y(10), of the adjoint
derivative with respect to the rate 2, and of the forward one, each divided by rtol.
"""

from __future__ import annotations

import numpy as np

import agrad as ag

END, RATE = 10.0, 2.0
TOLERANCES = (1e-3, 1e-5, 1e-8)


def errors(c: float, rtol: float) -> list[float]:
    """Errors in units of rtol: of the value and of both derivatives."""

    def residual(t, y, yp, rate):
        return [np.exp(c * t) * (yp[0] - rate * y[0])]

    def last(rate, way):
        options = {"rtol": rtol, "atol": 1e-4 * rtol, "sensitivities": way}
        return ag.solve_dae(residual, (0.0, END), [1.0], t_eval=[END], args=(rate,), **options).y[0, -1]

    truth = np.exp(RATE * END)
    slopes = [ag.grad(last)(RATE, way) / (END * truth) for way in ("adjoint", "forward")]
    return [abs(float(x) - 1) / rtol for x in (last(RATE, "adjoint") / truth, *slopes)]


def main() -> None:
    """Print the table."""
    print("| c |" + "".join(f" {rtol:g} |" for rtol in TOLERANCES))
    print("| --- |" + " --- |" * len(TOLERANCES))
    for c in (-10, -6, -3, -1, 0, 1, 3, 6, 10):
        cells = [", ".join(f"{x:.2g}" for x in errors(c, rtol)) for rtol in TOLERANCES]
        print(f"| {c} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
