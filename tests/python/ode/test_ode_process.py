"""Solves in threads and in other processes: the bits of a solve alone, whatever else runs, and no child that hangs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto"]
POINTS = [0.5, 0.7, 1.1]


def chain(t, y, k):
    return [-k * y[0], k * y[0] - 0.5 * y[1]]


def end(k, method, **options):
    return np.sum(ag.solve_ivp(chain, (0.0, 2.0), [1.0, 0.0], method, [1.0, 2.0], args=(k,), **options).y ** 2)


def population(k):
    subjects = [ag.Subject((0.0, 2.0), [1.0, 0.0], [1.0, 2.0], (k * (1 + i / 10),)) for i in range(8)]
    return sum(np.sum(result.y) for result in ag.solve_many(chain, subjects, threads=3))


def exchange(t, y, k):
    return [k * y[1] - y[0], y[0] - k * y[1]]


def at_rest(k):
    return ag.steady_state(exchange, [3.0, 1.0], args=(k,)).y[0]


def refilled(k):
    refill = ag.Event(lambda t, y, k: y[0] - 0.5, reset=lambda t, y, k: [1.0, y[1]])
    return end(k, "Tsit5", events=refill, doses=[ag.Dose(k, 0, 1.0)])


def fails(k):
    with pytest.raises(ag.SolverError) as caught:
        ag.solve_ivp(lambda t, y, k: k * y**2, (0.0, 9.0), [1.0], "BDF", args=(k,), max_num_steps=200)
    return caught.value.t


def later(k):
    return float(ag.solve_ivp(chain, (0.0, 2.0), [1.0, 0.0], args=(k,), dense_output=True).sol(1.5)[1])


def jobs():
    """Functions of a number: recorded at each call, and compiled ones that threads share."""
    made = {"steady": ag.compile(ag.value_and_grad(at_rest)), "steady, hessian": ag.hessian(at_rest)}
    made |= {"events": ag.compile(ag.value_and_grad(refilled)), "events, plain": ag.value_and_grad(refilled)}
    made |= {"many": ag.compile(ag.value_and_grad(population)), "many, plain": population, "fails": fails, "dense": later}
    for method in METHODS:
        made[method, "plain"] = lambda k, method=method: end(k, method)
        made[method, "gradient"] = lambda k, method=method: ag.value_and_grad(lambda k: end(k, method))(k)
        made[method, "compiled"] = ag.compile(ag.value_and_grad(lambda k, method=method: end(k, method)))
    for method in ("Tsit5", "DOP853", "Rodas4"):
        made[method, "hessian"] = ag.compile(ag.hessian(lambda k, method=method: end(k, method)))
    for how in ("forward", "simultaneous"):
        made[how] = ag.compile(ag.value_and_grad(lambda k, how=how: end(k, "BDF", sensitivities=how)))
    return made


# ---- threads -----------------------------------------------------------------------------------------------------------


def test_threads_that_solve_different_problems_at_once():
    made = jobs()
    alone = {name: [job(k) for k in POINTS] for name, job in made.items()}
    wrong, start = [], threading.Barrier(6)

    def work(number):
        names = list(made)
        start.wait()
        for turn in range(2):
            for i in np.random.default_rng([number, turn]).permutation(len(names)):
                for k, expected in zip(POINTS, alone[names[i]], strict=True):
                    if made[names[i]](k) != expected:
                        wrong.append((names[i], k))

    def reported(number):
        try:
            work(number)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=reported, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_ask_one_dense_solution():
    sol = ag.solve_ivp(chain, (0.0, 2.0), [1.0, 0.0], args=(0.7,), dense_output=True).sol
    times = np.linspace(0.0, 2.0, 9)
    alone = [sol(t).tolist() for t in times]
    found = {}

    def ask(number):
        found[number] = [sol(t).tolist() for t in np.roll(times, number)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: alone[-number:] + alone[:-number] if number else alone for number in range(4)}


# ---- processes ---------------------------------------------------------------------------------------------------------

MODEL = """
    import numpy as np
    import agrad as ag

    METHODS = ["BDF", "Adams", "Tsit5", "DOP853", "Rodas4", "Rodas5P", "auto"]

    def chain(t, y, k):
        return [-k * y[0], k * y[0] - 0.5 * y[1]]

    def end(k, method):
        return np.sum(ag.solve_ivp(chain, (0.0, 2.0), [1.0, 0.0], method, [1.0, 2.0], args=(k,)).y ** 2)

    def population(k):
        subjects = [ag.Subject((0.0, 2.0), [1.0, 0.0], [1.0, 2.0], (k * (1 + i / 10),)) for i in range(8)]
        return sum(np.sum(result.y) for result in ag.solve_many(chain, subjects, threads=4))

    def slopes(k):
        return [ag.value_and_grad(lambda k: end(k, method))(k) for method in METHODS] + [ag.value_and_grad(population)(k)]

    fast = [ag.compile(ag.value_and_grad(lambda k, method=method: end(k, method))) for method in METHODS]
    fast.append(ag.compile(ag.value_and_grad(population)))

    def compiled(k):
        return [f(k) for f in fast]

    def stiff(k):
        return end(k, "BDF")

    kept = ag.compile(ag.value_and_grad(stiff))
"""

FORK = """
    import os
    import warnings

    import numpy as np
    import agrad as ag
    import model

    warnings.simplefilter("ignore", DeprecationWarning)  # which Python 3.12 gives where there are threads
    alone = model.compiled(0.7), model.slopes(1.1)

    def child(work):
        '''What a forked child's exit is.'''
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = 0 if work() else 2
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def same():
        return (model.compiled(0.7), model.slopes(1.1)) == alone
"""

AFTER = """
    def grandchild():
        return same() and child(same) == 0

    assert child(same) == 0
    assert child(grandchild) == 0
    assert same()
"""

DURING = """
    import threading

    inside, go = threading.Event(), threading.Event()

    @ag.custom_vjp
    def waiting(k):
        if k > 0.9 and not go.is_set():
            inside.set()
            go.wait()
        return -k

    waiting.defvjp(lambda k: (-k, None), lambda _, cotangent: (-cotangent,))
    fast = ag.compile(lambda k: ag.solve_ivp(lambda t, y, k: waiting(k) * y, (0.0, 1.0), [1.0], "Tsit5", args=(k,)).y[0, -1])
    expected = fast(0.5)
    found = []
    thread = threading.Thread(target=lambda: found.append(fast(1.0)))
    thread.start()
    inside.wait()  # the thread is in the middle of a solve
    assert child(lambda: fast(0.5) == expected and same()) == 0
    go.set()
    thread.join()
    assert found == [fast(1.0)] and same()
"""

FORKS = """
    import signal
    import threading

    def short(k):
        return ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 0.01), [1.0], method, [0.01], args=(k,), rtol=1e-2, atol=1e-2).y[0, 0]

    def solved():
        signal.alarm(20)  # which ends a child that hangs
        return fast(0.7) == expected

    for method in ["CKRK", "BDF"]:
        fast = ag.compile(ag.value_and_grad(short))
        expected = fast(0.7)
        is_over = threading.Event()

        def solve():
            while not is_over.is_set():
                fast(0.7)

        thread = threading.Thread(target=solve)
        thread.start()
        none_hangs = all(child(solved) == 0 for _ in range(150))
        is_over.set()
        thread.join()
        assert none_hangs
"""

POOLS = """
    import multiprocessing
    import sys

    import model

    if __name__ == "__main__":
        alone = [model.compiled(0.7), model.compiled(1.1)], [model.slopes(0.7), model.slopes(1.1)]
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            assert pool.map(model.compiled, [0.7, 1.1]) == alone[0]
            assert pool.map(model.slopes, [0.7, 1.1]) == alone[1]
            assert pool.map(model.kept, [0.7, 1.1]) == [model.kept(0.7), model.kept(1.1)]
        assert model.compiled(0.7) == alone[0][0]
"""


def run(tmp_path, script, *arguments):
    """Runs a script beside the model; a child that hangs is an error."""
    (tmp_path / "model.py").write_text(textwrap.dedent(MODEL))
    (tmp_path / "script.py").write_text("".join(textwrap.dedent(part) for part in script))
    environment = {**os.environ, "PYTHONPATH": str(Path(ag.__file__).parents[1])}
    command = [sys.executable, "script.py", *arguments]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            kill = getattr(os, "killpg", os.kill)  # its children, too, one of which hangs
            kill(process.pid, signal.SIGTERM)
            raise
    assert process.returncode == 0, errors


starts_processes = pytest.mark.thread_unsafe(reason="starts processes from files of one name")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@needs_fork
@starts_processes
def test_a_child_goes_on_with_what_was_compiled_before_the_fork(tmp_path):
    """Also after solve_many has had its threads."""
    run(tmp_path, [FORK, AFTER])


@needs_fork
@starts_processes
def test_a_fork_in_the_middle_of_another_threads_solve(tmp_path):
    run(tmp_path, [FORK, DURING])


@needs_fork
@starts_processes
def test_forks_while_another_thread_takes_and_gives_back_what_is_shared(tmp_path):
    """At any instant of its solves: what it has locked in the middle of one is free in the child."""
    run(tmp_path, [FORK, FORKS])


@starts_processes
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_pools_of_processes(tmp_path, how):
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"the system has no {how}")
    run(tmp_path, [POOLS], how)
