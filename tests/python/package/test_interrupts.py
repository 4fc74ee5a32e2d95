"""Ctrl-C ends long recordings and runs soon, and daemon threads do not abort a process that ends."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.thread_unsafe(reason="starts processes and sends signals")

START = """
import signal, sys, time
import numpy as np, agrad as ag
signal.signal(signal.SIGINT, signal.default_int_handler)
numbers = np.random.default_rng(0).standard_normal
print("ready", flush=True)
try:
    while True:
        {work}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
WORK = {
    "hessian of 2500": "ag.hessian(lambda x: np.sum(np.outer(x, x) ** 2))(np.linspace(0, 1, 2500))",
    "compiled Jacobian of 3000": (
        "a = numbers((3000, 3000)); f = ag.compile(ag.jacobian(lambda x: a @ np.sin(x))); f(np.linspace(0, 1, 3000))"
    ),
    "first vmap of 4000 x 100": (
        "ag.vmap(lambda r: np.sum(np.linalg.cholesky(np.outer(r, r) / 99 + np.eye(100))))(numbers((4000, 100)))"
    ),
    "hessians of rows": "ag.vmap(ag.hessian(lambda r: np.sum(np.sin(r) * np.cumsum(r))))(numbers((400, 100)))",
    "sparse Jacobian": "ag.jacobian(lambda x: np.cumsum(x), sparse=True)(np.ones(15000))",
    "sparse Hessian": "ag.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparse=True)(np.ones(200_000))",
    "unrolled loop": "ag.grad(lambda x: sum(np.sin(x) * i for i in range(1_000_000)))(1.0)",
    "search of a root": "ag.root(lambda x: np.exp(x) + ag.fori(0, 10**6, lambda i, c: 0.9 * c + np.exp(x), x), 0.0)",
    "sums of many masses": ("ag.grad(lambda r: ag.beta_neg_binomial_lcdf(np.full(300, 1e12 - 1), r, 1e12, 1e12))(1e12)"),
    "products one by one": "ag.vjp(lambda x: np.sin(np.cumsum(x)), np.ones(3000))[1](np.ones(3000))",
}
#: Whose second part runs two seconds after the start.
LATER = {"compiled Jacobian of 3000", "first vmap of 4000 x 100", "sparse Hessian"}
MOMENTS = [(name, 0.4) for name in WORK]
MOMENTS += [pytest.param(name, 2.0, marks=[pytest.mark.full] * (name not in LATER)) for name in WORK]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("work", "moment"), MOMENTS)
def test_ctrl_c_ends_what_runs(work, moment):
    command = [sys.executable, "-W", "ignore", "-c", START.format(work=WORK[work])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(moment)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n"
            assert time.monotonic() - begin < 5.0  # a second on a machine that has nothing else to do
        finally:
            process.kill()


LOOPS = {
    "gradient": "f = ag.compile(ag.grad(lambda x: np.sum(np.sin(np.exp(-x * x)) * x))); x = np.linspace(0, 1, 200_000)",
    "loop": "f = ag.compile(lambda x: ag.fori(0, 10**9, lambda i, c: np.sin(c) + x, x)); x = 1.0",
    "solve": "f = lambda x: ag.solve_ivp(lambda t, y: [y[1], -x * y[0]], (0.0, 300.0), [1.0, 0.0]); x = 100.0",
}


@pytest.mark.parametrize("make", LOOPS.values(), ids=LOOPS)
def test_daemon_threads_at_exit(make):
    """They run, without the interpreter's lock, while the interpreter ends."""
    program = textwrap.dedent(
        """
        import threading, time
        import numpy as np, agrad as ag
        {make}
        def work():
            while True:
                f(x)
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        """
    ).format(make=make)
    for _ in range(2):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
