"""Long loops: what recording and differentiating them takes, leaks, and Ctrl-C."""

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

STEPS = 100_000


def spiral(angle, steps=STEPS, **options):
    """A rotation again and again, by products of numbers: the end is known."""

    def turn(carry, _):
        x, y = carry
        return (x * c - y * s, x * s + y * c), None

    c, s = np.cos(angle), np.sin(angle)
    return ag.scan(turn, (1.0, 0.0), length=steps, **options)[0]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_long_loop(checkpoint):
    angle = 1e-5
    x, _ = spiral(angle, checkpoint=checkpoint)
    assert x == pytest.approx(np.cos(STEPS * angle), abs=1e-10)
    gradient = ag.compile(ag.grad(lambda angle: spiral(angle, checkpoint=checkpoint)[1]))
    assert gradient(angle) == pytest.approx(STEPS * np.cos(STEPS * angle), rel=1e-9)
    second = ag.hessian(lambda angle: spiral(angle, 10_000, checkpoint=checkpoint)[1])(1e-4)
    assert second == pytest.approx(-(10_000.0**2) * np.sin(1.0), rel=1e-9)


def test_checkpoints_change_nothing():
    """The reverse pass computes the same numbers again, so results are the same to the bit."""
    functions = [lambda a, c=c: spiral(a, 3000, checkpoint=c)[1] ** 2 for c in (False, True)]
    for transform in (ag.grad, ag.hessian):
        plain, checkpointed = (transform(f)(0.001) for f in functions)
        assert plain == checkpointed


def test_recording_takes_one_step():
    """The function is called once, and the program has the operations of one loop, whatever its length."""
    for steps in (10, STEPS):
        calls = []

        def turn(x, _, calls=calls):
            calls.append(None)
            return x * 1.0000001, None

        f = ag.compile(ag.grad(lambda x, turn=turn, steps=steps: ag.scan(turn, x, length=steps)[0]))
        assert f(2.0) == pytest.approx(1.0000001**steps, rel=1e-9)
        assert len(calls) == 1


MEMORY = """
    import resource, sys
    import numpy as np, agrad as ag

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def steps(n, checkpoint):
        return ag.grad(lambda x: ag.fori(0, n, lambda i, c: c + 1e-9 * x * np.sin(c), x, checkpoint=checkpoint))(0.5)

    for checkpoint in (False, True):
        steps(10, checkpoint)
        before = peak()
        steps(1_000_000, checkpoint)
        print(peak() - before)
        if not checkpoint:  # what is freed may stay with the process, so the larger one goes second
            sys.stdout.flush()
""".replace("(False, True)", "(True, False)").replace("if not checkpoint", "if checkpoint")


@on_linux
def test_memory_of_a_reverse_pass():
    """A million steps of one number: 9 bytes a step are kept, and with checkpoints next to nothing."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    checkpointed, kept = map(int, run.stdout.split())
    assert checkpointed < 2**20
    assert kept < 20 * 2**20


@on_linux
@pytest.mark.parametrize("kind", ["plain", "grad", "compile", "paths", "nested", "cond"])
def test_loops_leak_nothing(kind):
    """The operation knows the function that it was recorded from, and that the recording: no circle may be left."""
    x = np.linspace(0.1, 1.0, 200)

    def step(c, y):
        return c * 0.5 + y * x, np.sum(c)

    def paths(c, y):
        return (c * y if np.sum(c) > 10 else c + y * x), None

    def nested(c, y):
        return ag.fori(0, 3, lambda i, d: d * 0.5 + y * c, c), None

    def loss(a, body):
        return np.sum(ag.scan(lambda c, y: body(c, y * a[0]), a * 1.0, np.ones(5))[0])

    def chosen(a):
        return ag.cond(a[0] > 0, lambda: np.sum(a * x), lambda: np.sum(a))

    calls = {
        "plain": lambda: ag.scan(step, x, np.ones(5)),
        "grad": lambda: ag.grad(lambda a: loss(a, step))(x),
        "compile": lambda: ag.compile(ag.grad(lambda a: loss(a, step)))(x),
        "paths": lambda: ag.compile(ag.grad(lambda a: loss(a, paths)))(x),
        "nested": lambda: ag.compile(ag.grad(lambda a: loss(a, nested)))(x),
        "cond": lambda: ag.compile(ag.grad(chosen))(x),
    }
    assert growth(calls[kind]) < SLACK


@on_linux
def test_failing_loops_leak_nothing():
    x = np.linspace(0.1, 1.0, 200)

    def step(c, y):
        if y > 2.5:
            raise ArithmeticError(c)
        return c * y, None

    def call():
        for f in (ag.grad, lambda f: ag.compile(ag.grad(f))):
            with pytest.raises(ArithmeticError):
                f(lambda a: np.sum(ag.scan(lambda c, y: step(c * a[0], y), a, np.arange(5.0))[0]))(x)

    assert growth(call) < SLACK


ENDLESS = """
    import signal, sys
    import numpy as np, agrad as ag

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that Ctrl-C is ignored

    def end(a, n):
        return ag.fori(0, n, lambda i, x: np.sin(x) + a, a, checkpoint=True)

    def nested(a, n):
        return ag.fori(0, n, lambda i, x: ag.fori(0, 3, lambda j, y: np.sin(y) + a, x), a, checkpoint=True)

    CALL = {
        "plain": lambda n: end(0.5, n),
        "grad": lambda n: ag.grad(end)(0.5, n),
        "compile": lambda n: ag.compile(end)(0.5, n),
        "nested": lambda n: ag.compile(nested)(0.5, n),
        "tangent": lambda n: ag.jvp(lambda a: end(a, n), (0.5,), (1.0,)),
    }[sys.argv[1]]
    print("starts", flush=True)
    try:
        CALL(10**13 if sys.argv[1] != "tangent" else 10**9)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(round(ag.grad(end)(0.5, 1), 6), flush=True)  # 1 + cos 0.5
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a console of its own would be needed to send Ctrl-C")
@pytest.mark.parametrize("kind", ["plain", "grad", "compile", "nested", "tangent"])
def test_interrupt_ends_a_long_loop(kind):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ENDLESS), kind], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        watch = threading.Timer(20.0, process.kill)  # ends the reading below, should the loop not end
        watch.start()
        try:
            assert process.stdout.readline() == "starts\n"
            time.sleep(0.3)  # well into the loop, which would go on for days
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < 1.0
            assert process.stdout.readline() == f"{1 + np.cos(0.5):.6f}\n"
            assert process.wait() == 0
        finally:
            watch.cancel()
            process.kill()
