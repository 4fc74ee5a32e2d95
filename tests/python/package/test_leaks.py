"""Memory stays flat however solves and recordings end, and Ctrl-C ends a long solve."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import agrad as ag
from memory_use import SLACK, growth, on_linux

pytestmark = pytest.mark.thread_unsafe(reason="counts what the whole process holds")

# A few hundred numbers in each state, parameter and recording: what is not freed is at least some kilobytes for each call.
Y0 = np.linspace(1.0, 2.0, 12)
RATES = np.linspace(0.5, 1.5, 12)


def solve(f, rates=RATES, times=(0.5, 1.0), most=1000):
    tolerances = (1e-3, 1e-5, 1e-3, 1e-5, 1e-3, 1e-5)
    return ag.ode_adjoint_tol_ctl(f, Y0, 0.0, times, *tolerances, most, 5, 1, 2, 2, rates)


def decay(t, y, rates):
    return -rates * y


def raises(t, y, rates):
    derivative = -rates * y
    raise ArithmeticError(derivative)


def too_long(t, y, rates):
    return np.concatenate([-rates * y, [1.0]])


def nan_at_once(t, y, rates):
    return np.log(-y) * rates


def nan_later(t, y, rates):
    return -rates * y * np.sqrt(0.6 - t)


def infinite_backwards(t, y, rates):
    return -np.sqrt(rates - rates) * y


FAILING = {
    "raises": (raises, {}, ArithmeticError),
    "wrong length": (too_long, {}, ag.ShapeError),
    "nan at once": (nan_at_once, {}, ag.SolverError),
    "nan later": (nan_later, {}, ag.SolverError),
    "too much work": (decay, {"most": 2}, ag.SolverError),
    "bad times": (decay, {"times": (1.0, 0.5)}, ag.DomainError),
}


@on_linux
@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("wants_gradient", [False, True], ids=["plain", "gradient"])
def test_failing_solves(name, wants_gradient):
    f, changes, error = FAILING[name]
    gradient = ag.grad(lambda rates: np.sum(solve(f, rates, **changes)))

    def call():
        with pytest.raises(error):
            gradient(RATES) if wants_gradient else solve(f, **changes)

    assert growth(call) < SLACK


@on_linux
def test_failing_backward_passes():
    gradient = ag.grad(lambda rates: np.sum(solve(infinite_backwards, rates)))

    def call():
        with pytest.raises(ag.SolverError, match="reverse pass"):
            gradient(RATES)

    assert growth(call) < SLACK


@on_linux
def test_failing_runs_of_a_compiled_function():
    gradient = ag.compile(ag.grad(lambda rates: np.sum(solve(lambda t, y, rates: -np.sqrt(rates) * y, rates))))
    gradient(RATES)

    def call():
        with pytest.raises(ag.SolverError):
            gradient(-RATES)

    assert growth(call) < SLACK


@on_linux
def test_failing_recordings():
    def fails(x):
        y = np.exp(np.outer(x, x))  # 144 recorded numbers
        raise ArithmeticError(y)

    def call():
        with pytest.raises(ArithmeticError):
            ag.grad(fails)(RATES)
        with pytest.raises(ArithmeticError):
            ag.compile(fails)(RATES)

    assert growth(call) < SLACK


@on_linux
def test_gradients_that_succeed():
    def call():
        assert np.all(ag.grad(lambda rates: np.sum(solve(decay, rates)))(RATES) < 0)

    assert growth(call) < SLACK


@on_linux
def test_captured_values():
    def call():
        ag.grad(lambda rates: np.sum(solve(lambda t, y, _: -rates * y, 1.0)))(RATES)

    assert growth(call) < SLACK


@on_linux
def test_compiled_gradient():
    gradient = ag.compile(ag.grad(lambda rates: np.sum(solve(decay, rates))))
    assert growth(lambda: gradient(RATES)) < SLACK


@on_linux
def test_the_measure_sees_a_leak():
    """The 10 kB of a small solver for each call are more than what has been freed before can hide."""
    kept = []
    assert growth(lambda: kept.append(np.ones(1280))) > SLACK


# Ctrl-C

ENDLESS = """
    import signal, sys
    import numpy as np, agrad as ag

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that Ctrl-C is ignored

    def spin(t, y, frequency):  # 1e12 turns
        return [frequency * y[1], -frequency * y[0]]

    def end(frequency, final=1.0):
        return ag.ode_adjoint_tol(spin, [1.0, 0.0], 0.0, [final], 1e-10, 1e-12, 10**15, frequency)[0, 0]

    CALL = {
        "plain": lambda: end(1e12),
        "gradient": lambda: ag.grad(end)(1e12),
        "compiled": lambda: ag.compile(end)(1e12),
        "one-step": lambda: ag.solve_ivp(spin, (0.0, 1.0), [1.0, 0.0], "Tsit5", args=(1e12,), max_num_steps=10**15),
        "population": lambda: ag.solve_many(
            spin,
            [ag.Subject((0.0, 1.0), [1.0, 0.0], None, (frequency,)) for frequency in (1.0, 1.0, 1e12)],
            max_num_steps=10**15,
            threads=2,
        ),
    }[sys.argv[1]]
    print("starts", flush=True)
    try:
        CALL()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(round(ag.grad(end)(2.0), 6), flush=True)  # -sin 2
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a console of its own would be needed to send Ctrl-C")
@pytest.mark.parametrize("kind", ["plain", "gradient", "compiled", "one-step", "population"])
def test_interrupt_ends_a_long_solve(kind):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ENDLESS), kind], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        watch = threading.Timer(20.0, process.kill)  # ends the reading below, should the solve not end
        watch.start()
        try:
            assert process.stdout.readline() == "starts\n"
            time.sleep(0.3)  # well into the solve, which would go on for days
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < 1.0
            assert process.stdout.readline() == f"{-np.sin(2.0):.6f}\n"
            assert process.wait() == 0
        finally:
            watch.cancel()
            process.kill()
