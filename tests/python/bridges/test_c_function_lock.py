"""Calls from C never wait for ever for the interpreter lock, and are cancelled where they are long."""

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from c_calls import called, threads_library

TESTS = Path(__file__).resolve().parents[1]


def run_with_limit(code, folder):
    """Run a program in another process, which would hang for ever if the fault were there."""
    text = "import sys, pathlib\n" + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", text, str(folder)], cwd=TESTS, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thread_unsafe(reason="starts processes")
def test_solve_under_a_caller_that_holds_the_lock(tmp_path):
    """A thread of C runs a solve that polls for interrupts, while the thread with the lock waits for it."""
    threads_library(tmp_path, True)  # skips where there is no compiler
    run_with_limit(
        """
        import numpy as np, agrad as ag
        from c_calls import threads_library

        def long(x):
            y = ag.solve_ivp(lambda t, y, k: np.array([y[1], -k * y[0]]), (0.0, 3000.0), np.array([1.0, 0.0]),
                             t_eval=np.array([3000.0]), args=(x[0],), rtol=1e-9, atol=1e-9, max_num_steps=10**7).y
            return np.sum(y)

        f = ag.c_function(long, np.ones(1))
        call = threads_library(pathlib.Path(sys.argv[1]), True)
        x = np.array([1.1])
        code, value, gradient = call(f, x)
        assert code == 0 and value == f(x)[0] and gradient[0] == f(x)[1][0]
        """,
        tmp_path,
    )


@pytest.mark.thread_unsafe(reason="starts processes")
def test_path_that_python_cannot_record_is_no_rejection(tmp_path):
    """Seen: a positive code made a sampler draw from half of a normal density."""
    threads_library(tmp_path, True)
    out = run_with_limit(
        """
        import time, numpy as np, agrad as ag
        from c_calls import threads_library

        f = ag.c_function(lambda x: -x[0] ** 2 if x[0] > 0 else -2 * x[0] ** 2, np.ones(1))
        holding = threads_library(pathlib.Path(sys.argv[1]), True)
        begin = time.monotonic()
        assert holding(f, np.array([-1.0]))[0] == -2
        assert time.monotonic() - begin < 20
        print(f.last_error)
        leaving = threads_library(pathlib.Path(sys.argv[1]), False)
        assert leaving(f, np.array([-1.0])) == (0, -2.0, [4.0])  # recorded by another thread, which may wait for the lock
        assert holding(f, np.array([-3.0]))[:2] == (0, -18.0)
        """,
        tmp_path,
    )
    assert "comparison at" in out


@pytest.mark.thread_unsafe(reason="starts threads, and counts their time")
def test_cancel_ends_runs_in_all_threads():
    def swinging(x):
        """A pendulum until 1e6 x[1]."""
        end = 1e6 * x[1]
        y = ag.solve_ivp(lambda t, y, k: np.array([y[1], -k * y[0]]), (0.0, end), np.array([1.0, 0.0]), t_eval=ag.array([end]),
                         args=(x[0],), max_num_steps=10**9).y  # fmt: skip
        return np.sum(y)

    f = ag.c_function(swinging, np.array([1.0, 1e-6]))
    assert called(f, [1.0, 1e-6])[0] == 0
    found = []
    threads = [threading.Thread(target=lambda: found.append(called(f, [1.0, 1.0])[0])) for _ in range(2)]
    for each in threads:
        each.start()
    time.sleep(0.5)
    f.cancel()
    begin = time.monotonic()
    for each in threads:
        each.join(timeout=30)
    assert time.monotonic() - begin < 10
    assert found == [-4, -4]
    assert called(f, [1.0, 1e-6])[0] == -4
    f.reset()
    assert called(f, [1.0, 1e-6])[0] == 0


def test_warnings_are_python_s():
    """The warning of an unstable steady state needs Python, so the call asks for it."""

    def rest(x):
        return np.sum(ag.steady_state(lambda t, y, k: k * (y - 1.0), np.array([1.1]), args=(x[0],), method="newton").y)

    with pytest.warns(RuntimeWarning, match="unstable"):
        f = ag.c_function(rest, np.array([2.0]))
    with pytest.warns(RuntimeWarning, match="unstable"):
        code, value, _ = called(f, [2.0])
    assert code == 0
    assert value == pytest.approx(1.0)
