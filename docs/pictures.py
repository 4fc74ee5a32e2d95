"""Pictures of the page on gradients and how far to trust them, drawn while the documentation is built.

Two systems that rest, solved with either kind of error control: the sizes of the steps, a tangent, and the tangent's error.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import agrad as ag

RTOL = 1e-6
CONTROLS = {"states": "tab:red", "derivatives": "tab:blue"}
#: Beyond this product of step and rate of decay, steps of Tsit5 amplify what decays.
STABLE = 3.5


class Shown(NamedTuple):
    """A system whose state rests while a tangent moves."""

    title: str
    name: str
    rate: float
    end: float
    solve: Callable[..., Any]
    at: float
    exact: Callable[[Any], Any]
    """The tangent: the derivative of what `solve` returns with respect to its first argument."""


def relaxation(s: Any, times: Any, **options: Any) -> tuple[Any, Any]:
    """Return the state that follows s, from rest at 1, and the result."""
    options = {"rtol": RTOL, **options}
    result = ag.solve_ivp(lambda t, y, s: s - y, (0.0, 50.0), [1.0], "Tsit5", times, args=(s,), **options)
    return result.y[0], result


def turnover(made: Any, times: Any, **options: Any) -> tuple[Any, Any]:
    """Return a response that is made and lost, at its baseline until a dose at 100 hours, and the result."""

    def slopes(t: Any, y: Any, made: Any) -> list[Any]:
        return [-0.1 * y[0], made * (1 + y[0] / (1 + y[0])) - 0.5 * y[1]]

    doses = [ag.Dose(100.0, 0, 10.0)]
    options = {"rtol": RTOL, **options}
    result = ag.solve_ivp(slopes, (0.0, 120.0), [0.0, 20.0], "Tsit5", times, doses=doses, args=(made,), **options)
    return result.y[1], result


def of_turnover(times: Any) -> Any:
    """Return the derivative of the response with respect to what is made, which it is linear in; it starts from 20 anyway."""
    y = turnover(10.0, times, error_control="derivatives", rtol=1e-10)[0]
    return (y - 20.0 * np.exp(-0.5 * times)) / 10.0


SHOWN = [
    Shown("dy/dt = s - y from y = s", "dy/ds", 1.0, 50.0, relaxation, 1.0, lambda t: -np.expm1(-t)),
    Shown("turnover at its baseline, a dose at 100 h", "dR/dkin", 0.5, 120.0, turnover, 10.0, of_turnover),
]


def draw(path: Path) -> None:
    """Draw all of it to one file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, len(SHOWN), figsize=(9, 8), sharex="col", layout="constrained")
    for column, shown in zip(axes.T, SHOWN, strict=True):
        _column(column, shown)
    axes[0, 0].legend(fontsize="small")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _column(axes: Any, shown: Shown) -> None:
    sizes, tangent, error = axes
    times = np.linspace(0.0, shown.end, 601)[1:]
    exact = shown.exact(times)
    for control, color in CONTROLS.items():

        def states(x: Any, control: str = control) -> Any:
            return shown.solve(x, times, error_control=control)[0]

        _, moved = ag.jvp(states, (shown.at,), (1.0,))
        columns = shown.solve(shown.at, times, error_control=control)[1].explain().columns
        begins, steps = np.append(columns["t"], shown.end), np.append(columns["h"], columns["h"][-1])
        sizes.step(begins, steps, where="post", color=color, label=f'error_control="{control}"')
        tangent.plot(times, moved, color=color)
        error.plot(times, np.maximum(np.abs(moved - exact) / np.abs(exact), 1e-12), color=color)
    sizes.axhline(STABLE / shown.rate, color="gray", linestyle=":", label="longest stable step")
    tangent.plot(times, exact, color="black", linestyle="--", label="exact")
    error.axhline(RTOL, color="gray", linestyle=":")
    sizes.set(title=shown.title, ylabel="step", yscale="log")
    tangent.set(ylabel=shown.name)
    tangent.set_yscale("symlog", linthresh=10.0)
    tangent.set_yticks([-1e9, -1e6, -1e3, 0.0, 1e3, 1e6, 1e9])
    error.set(ylabel=f"relative error of {shown.name}", yscale="log", xlabel="t")
