"""Runs the demonstration ``python -m agrad demo``, which fits a population model to the lynx and hare pelts of 1900-1920.

The log posterior contains a differential equation, solved by any of agrad's methods; no derivative was derived by hand.
Read model.py first; fit.py, report.py and plot.py follow.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from agrad.demo.fit import Fit, fit_model
from agrad.demo.model import METHODS, lynx_hare
from agrad.demo.plot import write_plot
from agrad.demo.report import Progress, table

__all__ = ["Fit", "fit_model", "lynx_hare", "main"]


def main(argv: Sequence[str] = ()) -> int:
    """Run the demonstration with the given command-line arguments; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agrad demo", description="Fits the Lotka-Volterra model to the lynx and hare pelts of 1900-1920."
    )
    parser.add_argument(
        "--output", type=Path, default=Path("lynx_hare.png"), metavar="FILE", help="where to write the plot (%(default)s)"
    )
    parser.add_argument(
        "--method", choices=METHODS, default=METHODS[0], help="how the differential equation is solved (%(default)s)"
    )
    arguments = parser.parse_args(argv)
    output: Path = arguments.output
    if not output.parent.is_dir():
        parser.error(f"--output is {output}, but must be a file in a directory that exists")

    start, progress = time.perf_counter(), Progress()
    kind = "CVODES adjoint" if arguments.method in ("BDF", "Adams") else "discrete adjoint"
    print(
        "Lotka-Volterra model of the lynx and hare pelts of 1900-1920: 8 unknowns, 42 observations, "
        f"{kind} gradients ({arguments.method})"
    )
    result = fit_model(progress, arguments.method)
    has_matplotlib = find_spec("matplotlib") is not None
    if has_matplotlib:
        progress("plot")
        write_plot(output, result)
    progress.close()

    print(f"mode found in {result.iterations} iterations, {result.gradients} gradients")
    print(f"largest relative gradient difference: {result.gradient_difference:.1e} (at the mode, central differences)")
    print(f"\n{table(result)}\n")
    print("estimates: posterior means by Laplace's method (Tierney and Kadane 1986); standard errors: Hessian at the mode")
    print(f"plot: {output}" if has_matplotlib else 'no plot: matplotlib is missing; pip install "agrad[plot]"')
    print(f"{time.perf_counter() - start:.1f} s")
    return 0
