"""Further pictures of the page on gradients: an estimate and its error, a switch of a state, a pulse in data."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import agrad as ag

RTOL = 1e-6
COLOURS = {"Tsit5": "tab:red", "Rodas4": "tab:blue"}


def draw_estimate(path: Path) -> None:
    """Draw error and estimate of the derivative of `dy/dt = s - y` from rest, by the steps of the states alone."""
    ends = np.geomspace(0.3, 300.0, 40)
    figure, axes = _figure(6.0)
    for method, colour in COLOURS.items():
        errors, estimates = np.transpose([_of_relaxation(method, end) for end in ends])
        axes.loglog(ends, np.maximum(errors, 1e-16), color=colour, label=f"{method}, error")
        axes.loglog(ends, np.maximum(estimates, 1e-16), ".", color=colour, label=f"{method}, estimate")
    axes.axhline(100 * RTOL, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="end of the solve", ylabel="relative error of dy/ds", ylim=(1e-9, 1e13))
    axes.legend()
    _save(figure, path)


def _of_relaxation(method: str, end: float) -> tuple[float, float]:
    """Return the error of the derivative and the estimate of the reverse pass, both relative."""
    results: list[Any] = []

    def last(s: Any) -> Any:
        results.append(
            ag.solve_ivp(lambda t, y: s - y, (0.0, end), [1.0], method, error_control="states", rtol=RTOL, max_num_steps=10_000)
        )
        return results[-1].y[0, -1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slope = ag.grad(last)(1.0)
    true = -np.expm1(-end)
    return abs(slope / true - 1), results[-1].stats.get("gradient_error", np.nan)


def draw_switch(path: Path) -> None:
    """Draw a state that moves three times as fast from 1 on, and its derivative with and without the switch."""
    times = np.linspace(0.0, 2.0, 201)

    def state(rate: Any, switches: str) -> Any:
        slope = lambda t, y: [np.where(y[0] > 1.0, 3.0, 1.0) * rate]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.0), [0.0], "Tsit5", times, rtol=1e-8, switches=switches).y[0]

    figure, (above, below) = _figure(6.0, rows=2)
    above.plot(times, state(1.0, "auto"), color="black")
    above.axhline(1.0, color="grey", linewidth=0.8, linestyle=":")
    above.set_ylabel("y")
    below.plot(times, np.where(times > 1.0, 3 * times, times), color="lightgrey", linewidth=5, label="closed form")
    for switches, colour in (("auto", "tab:blue"), ("ignore", "tab:red")):
        slope = ag.jvp(lambda rate, s=switches: state(rate, s), (1.0,), (1.0,))[1]
        below.plot(times, slope, color=colour, label=f'switches="{switches}"')
    below.set(xlabel="t", ylabel="dy/drate")
    below.legend()
    _save(figure, path)


def draw_data(path: Path) -> None:
    """Draw a pulse of ten minutes in the data of two days that drive a decay, and the derivative by the time constant."""
    knots = np.arange(0.0, 2000.0, 2.0)
    data = np.where((knots >= 1000) & (knots <= 1010), 1.0, 0.0)
    times = np.linspace(950.0, 1150.0, 401)

    def state(constant: Any) -> Any:
        slope = lambda t, y: np.interp(t, knots, data) - y / constant  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 1150.0), [0.0], "Tsit5", times, rtol=RTOL).y[0]

    figure, (above, below) = _figure(6.0, rows=2)
    above.plot(knots, data, ".-", color="black", markersize=3)
    above.set(ylabel="data", xlim=(950.0, 1150.0))
    below.plot(times, ag.jvp(state, (20.0,), (1.0,))[1], color="tab:blue", label="steps end at the pulse")
    below.plot(times, np.zeros_like(times), "--", color="tab:red", label="stepped over")
    below.set(xlabel="t", ylabel="dy/dconstant")
    below.legend()
    _save(figure, path)


def _figure(width: float, rows: int = 1) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(rows, figsize=(width, 2.0 + 1.6 * rows), sharex=True, layout="constrained")


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
