"""Solves with doses, stops and events as functions of a vector, whose derivatives tests hold against each other."""

import numpy as np

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHODS = ["Tsit5", "RK45", "DOP853", "Rodas4", "Rodas5P", "auto"]


def flat(*parts):
    return np.concatenate([np.ravel(part) for part in parts])


def differences(f, x, step=1e-4):
    def along(e):
        return (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * step)

    return np.stack([along(step * e) for e in np.eye(x.size)], axis=-1)


def fall(t, y, r, g):
    return [y[1], -g]


def bounces(x, method):
    """Times, states before the bounces, outputs between and after them."""
    floor = ag.Event(lambda t, y, r, g: y[0], lambda t, y, r, g: [0.0, -r * y[1]], direction=-1)
    ball = ag.solve_ivp(fall, (0.0, 2.2), [x[1], x[2]], method, [0.3, 1.0, 1.5, 2.2], args=(x[0], x[3]), events=floor, **TIGHT)
    return flat(ball.t_events[0], ball.y_events[0], ball.y)


def elimination(t, y, k, v):
    return [-k * y[0] / (v + y[0]), k * y[0] / (v + y[0]) - 0.3 * y[1]]


def infusions(x, method):
    """Times, amounts and durations all move; two infusions overlap, and one still runs at the end."""
    doses = [
        ag.Dose(x[0], 0, x[1], x[2]),
        ag.Dose(x[0] + 0.4, 0, 1.5, 2 * x[2]),
        ag.Dose(x[3], 1, x[1] * x[2]),
        ag.Dose(2.0 * x[3], 0, x[1], 9.0 * x[2]),
    ]
    times = [0.0, 0.7, 1.0, 2.5, 3.0]
    return flat(ag.solve_ivp(elimination, (0.0, 3.0), [1.0, x[4]], method, times, args=(x[5], 1.0), doses=doses, **TIGHT).y)


def stops(x, method):
    """The right-hand side jumps at a stop, between two doses."""

    def slope(t, y, k, at):
        return np.where(t < at, -k, -3 * k) * y + t

    doses = [ag.Dose(0.5, 0, x[2]), ag.Dose(2.0 - x[1], 0, x[0])]
    return flat(
        ag.solve_ivp(
            slope, (0.0, 2.0), [1.0], method, [0.4, 1.5, 2.0], args=(x[0], x[1]), doses=doses, tstops=[x[1]], **TIGHT
        ).y
    )


def terminal(x, method):
    """Time and state of the end, which comes with the second crossing."""
    end = ag.Event(lambda t, y, w, c: y[0] - c, terminal=2)
    slope = lambda t, y, w, c: [w * y[1], -w * y[0]]  # noqa: E731
    solution = ag.solve_ivp(slope, (0.0, 9.0), [1.0, x[2]], method, args=(x[0], x[1]), events=end, **TIGHT)
    return flat(solution.t, solution.y, solution.t_events[0])


def terminal_at_an_output(x, method):
    """The output at the end stays where it is as the end moves."""
    end = ag.Event(lambda t, y, k, c: t - c * x[2], lambda t, y, k, c: [3 * k * y[0], y[1] + t * c], terminal=True)
    slope = lambda t, y, k, c: [-k * y[0], y[0] * t]  # noqa: E731
    times = [0.5, 1.0, 2.0]
    return flat(ag.solve_ivp(slope, (0.0, 2.0), [1.0, 2.0], method, times, args=(x[0], x[1]), events=end, **TIGHT).y)


def one_instant(x, method):
    """Three events at t = 1, which move apart by x; what comes later moves with the first."""
    events = [
        ag.Event(lambda t, y, a, b, c: t - a, lambda t, y, a, b, c: [y[0] + c, y[1] * t]),
        ag.Event(lambda t, y, a, b, c: t - b),
        ag.Event(lambda t, y, a, b, c: (t - 1.0) * y[0], lambda t, y, a, b, c: [y[0] * y[1], y[1] + b * c * t]),
    ]
    slope = lambda t, y, a, b, c: [-c * y[0] * t, y[0] - y[1]]  # noqa: E731
    solution = ag.solve_ivp(
        slope, (0.0, 2.0), [x[3], 2.0], method, [0.5, 1.0, 1.7], args=(x[0], x[1], x[2]), events=events, **TIGHT
    )
    return flat(solution.y, *solution.t_events, *solution.y_events)


def reset(x, method):
    """A reset that depends on time and parameters of its own, between doses whose times move; ten parameters."""
    top = ag.Event(
        lambda t, y, p: p[0] * y[0] + 0.1 * t - p[1],
        lambda t, y, p: [p[2] * y[0] + p[3] * np.sin(t) * y[1], y[1] + p[4] * y[0] ** 2],
        direction=1,
    )
    doses = [ag.Dose(p, i % 2, a, d) for i, (p, a, d) in enumerate([(x[5], x[6], 0.0), (x[7], 0.3, x[8])])]
    slope = lambda t, y, p: [p[9] - 0.2 * y[0] * y[1], 0.3 * y[0] - y[1] + 0.1 * t]  # noqa: E731
    solution = ag.solve_ivp(
        slope, (0.0, 4.0), [0.2, x[0]], method, [1.0, 2.0, 3.0, 4.0], args=(x,), events=top, doses=doses, **TIGHT
    )
    return flat(solution.y, solution.t_events[0], solution.y_events[0])


CASES = {
    "bounces": (bounces, [0.8, 2.0, 0.3, 9.81]),
    "infusions": (infusions, [0.5, 2.0, 0.3, 1.2, 0.1, 0.9]),
    "stops": (stops, [0.4, 0.9, 1.5]),
    "terminal": (terminal, [1.7, 0.4, 0.2]),
    "reset": (reset, [1.0, 1.3, 0.3, 0.05, 0.2, 0.9, 0.4, 1.6, 0.5, 0.8]),
}
AT_CORNERS = {  # no differences: to one side another event is first
    "terminal at an output": (terminal_at_an_output, [0.5, 1.0, 1.0]),
    "one instant": (one_instant, [1.0, 1.0, 0.7, 1.4]),
}


# ---- times of the span and of outputs


def dosed(x, method):
    """A bolus and an infusion between an initial time and outputs that move, one of them while the infusion runs."""
    doses = [ag.Dose(0.5, 0, 2.0), ag.Dose(0.8, 1, 1.0, 0.6)]
    slope = lambda t, y, k: [-k * y[0] * (1 + t), k * y[0] - 0.3 * y[1]]  # noqa: E731
    times = [x[1], 0.5 * x[1] + 0.7, 2.0, x[2]]
    return flat(ag.solve_ivp(slope, (x[0], 3.0), [1.0, 0.2], method, times, args=(x[3],), doses=doses, **TIGHT).y)


def spanned_bounces(x, method):
    """Times and states of the bounces, and outputs before, between and behind them."""
    floor = ag.Event(lambda t, y, r: y[0], lambda t, y, r: [0.0, -r * y[1]], direction=-1)
    fall = lambda t, y, r: [y[1], -9.81]  # noqa: E731
    times = [x[4], 1.5, x[5]]
    ball = ag.solve_ivp(fall, (x[2], x[3]), [x[1], 0.0], method, times, args=(x[0],), events=floor, **TIGHT)
    return flat(ball.t, ball.y, ball.t_events[0], ball.y_events[0])


def landing(x, method):
    """Time and state of the end, by an event where the span is long and by the span where it is short."""
    ground = ag.Event(lambda t, y: y[0] - 1.0, terminal=True)
    ball = ag.solve_ivp(lambda t, y: [y[1], -9.81], (x[2], x[3]), [x[1], x[0]], method, events=ground, **TIGHT)
    return flat(ball.t, ball.y)


def backwards(x, method):
    top = ag.Event(lambda t, y: y[0] - 1.5, lambda t, y: [0.5 * y[0]])
    slope = lambda t, y: -0.5 * t * y  # noqa: E731
    solution = ag.solve_ivp(slope, (x[0], x[1]), [1.0], method, [x[2], x[3]], events=top, **TIGHT)
    return flat(solution.t, solution.y, solution.t_events[0])


def switched(x, method):
    slope = lambda t, y, on: np.where(t < on, 1.0, -1.0) * y * t  # noqa: E731
    return flat(ag.solve_ivp(slope, (x[0], x[1]), [1.0], method, args=(x[2],), **TIGHT).y)


SPANS = {
    "doses": (dosed, [0.1, 0.7, 2.5, 0.9]),
    "bounces": (spanned_bounces, [0.8, 2.0, 0.05, 2.3, 0.3, 2.1]),
    "landing": (landing, [0.8, 2.0, 0.05, 2.3]),
    "too short to land": (landing, [0.8, 2.0, 0.05, 0.3]),
    "backwards": (backwards, [2.0, 0.1, 1.5, 0.2]),
    "switch": (switched, [0.1, 2.0, 0.7]),
}
