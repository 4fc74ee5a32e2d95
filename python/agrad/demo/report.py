"""Prints the demonstration's output: a line of progress, then the estimates beside the published estimates."""

from __future__ import annotations

import sys

import numpy as np

from agrad.demo.fit import Fit
from agrad.demo.model import UNKNOWNS

__all__ = ["PUBLISHED", "Progress", "table"]

#: Published posterior mean and standard deviation, in the order of UNKNOWNS: posteriordb's reference draws for
#: hudson_lynx_hare-lotka_volterra.
PUBLISHED = np.array([
    [0.54686, 0.06305],
    [0.02775, 0.00415],
    [0.80010, 0.08937],
    [0.02409, 0.00353],
    [34.035, 2.917],
    [5.936, 0.531],
    [0.24806, 0.04326],
    [0.25102, 0.04359],
])  # fmt: skip


class Progress:
    """A line of progress on standard error, which the next text replaces; nothing where standard error is no terminal."""

    def __init__(self) -> None:
        self._width = 0
        self._shown = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        """Show a text in place of the last text."""
        if self._shown:
            print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def close(self) -> None:
        """Leave the line empty."""
        self("")
        self("")


def table(fit: Fit) -> str:
    """Return estimates and standard errors beside the published posterior means and standard deviations, and the mode."""
    differences = np.round((fit.means - PUBLISHED[:, 0]) / PUBLISHED[:, 1], 2) + 0.0  # no -0.00
    modes = np.exp(fit.mode)
    lines = [
        f"{'':<12}{'agrad':^22}{'published':^22}{'difference':>12}{'agrad':>11}",
        f"{'unknown':<12}{'estimate':>11}{'std. error':>11}{'mean':>11}{'sd':>11}{'in sd':>12}{'mode':>11}",
    ]
    for k, name in enumerate(UNKNOWNS):
        numbers = (fit.means[k], fit.standard_errors[k], *PUBLISHED[k])
        lines.append(f"{name:<12}" + "".join(f"{x:>11.4g}" for x in numbers) + f"{differences[k]:>12.2f}{modes[k]:>11.4g}")
    return "\n".join(lines)
