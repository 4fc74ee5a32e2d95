"""Pickles of compiled functions in processes of every start method, and pickles of functions that were edited since."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

import agrad as ag

SCRIPT = """
    import multiprocessing
    import sys
    from dataclasses import dataclass
    import numpy as np
    import agrad as ag

    CALLS = 0

    @dataclass
    class Rates:
        k: float
        name: str = "rates"

    def loss(x, rates=Rates(2.0)):
        global CALLS
        CALLS += 1
        return rates.k * x**2

    @ag.compile
    def decorated(x):
        return 3.0 * loss(x)

    fast, given, unused = (ag.compile(ag.grad(loss)) for _ in range(3))

    def both(x):
        return fast(x), decorated(x)

    def with_rates(x):
        return given(x, Rates(5.0))

    def calls(_):
        return CALLS

    if __name__ == "__main__":
        points = [1.0, 2.0]
        fast(1.0), decorated(1.0)
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            def of_pool(f):
                return pool.map_async(f, points).get(50)
            before = of_pool(calls)
            assert of_pool(fast) == [4.0, 8.0], of_pool(fast)
            assert of_pool(decorated) == [6.0, 24.0]
            assert of_pool(calls) == before
            assert of_pool(both) == [(4.0, 6.0), (8.0, 24.0)]
            assert of_pool(with_rates) == [10.0, 20.0]
            assert of_pool(unused) == [4.0, 8.0]
            assert of_pool(ag.grad(loss)) == [4.0, 8.0]
        print("done")
"""


def run_script(directory, code, start):
    """Runs a program whose processes start in one of Python's ways."""
    (directory / "script.py").write_text(textwrap.dedent(code))
    environment = {**os.environ, "PYTHONPATH": str(Path(ag.__file__).parents[1])}
    command = [sys.executable, "script.py", start]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, env=environment, timeout=200)


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_functions_of_the_script_run_in_a_pool(tmp_path, start):
    run = run_script(tmp_path, SCRIPT, start)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"


DAMAGED = """
    import multiprocessing
    import sys
    from concurrent.futures import ProcessPoolExecutor
    import agrad as ag

    def square(x):
        return x**2

    @ag.compile
    def decorated(x):
        return 3.0 * x

    fast = ag.compile(ag.grad(square))

    class Damaged:
        def __init__(self, of):
            self.of = of

        def __call__(self, x):
            return self.of(x)

        def __reduce__(self):
            make, stored = self.of.__reduce__()
            if len(stored) == 1:
                return make, (stored[0][:-1],)
            version, seal, *rest = stored
            return make, (version, seal[::-1], *rest)

    def attribute(f):
        return f.label

    def told(wait):
        try:
            return wait()
        except ValueError as error:
            return str(error)[:8], "record the " in str(error)

    if __name__ == "__main__":
        fast(1.0), decorated(1.0)
        program = fast.recorded()[0][1][0].program
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(1) as pool:
            for each in (fast, decorated, program):
                print(*told(lambda: pool.map_async(Damaged(each), [1.0, 2.0]).get(20)))
            print(*told(lambda: pool.map_async(attribute, [Damaged(fast)]).get(20)))
            assert pool.map_async(fast, [1.0, 2.0]).get(20) == [2.0, 4.0]
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            print(*told(lambda: pool.submit(Damaged(fast), 1.0).result(20)))
            assert pool.submit(fast, 1.0).result(20) == 2.0
"""


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_a_damaged_pickle_raises_in_a_pool_within_seconds(tmp_path, start):
    run = run_script(tmp_path, DAMAGED, start)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{what} True" for what in ("compile:", "compile:", "program:", "compile:", "compile:")]


def module(name, code):
    """A module of this code, which pickle finds."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(textwrap.dedent(code), made.__dict__)
    return made


MODEL = """
    import functools
    import numpy as np

    def helper(x):
        return {helper} * x

    class Law:
        def rate(self, x):
            return {method} * x

    @functools.lru_cache
    def of_cache():
        return {cached}

    def f(x, factor={default}):
        def inner(x):
            return {inner} * x
        value = factor * inner(helper(Law().rate(x))) * of_cache() * others.share(x)
        return {own} * value if x > 0 else -{own} * value
"""
PARTS = dict.fromkeys(("helper", "method", "cached", "default", "inner", "own"), 2.0)


@pytest.mark.thread_unsafe(reason="edits a module")
@pytest.mark.parametrize("edited", [*PARTS, "module"])
def test_a_pickle_of_edited_code_is_recorded_again(edited):
    name = f"edited_model_{edited}"

    def write(parts, share):
        helpers = module(f"{name}_helpers", f"def share(x): return {share}")
        made = module(name, MODEL.format(**parts))
        made.others = helpers
        return made

    made = write(PARTS, 1.0)
    compiled = ag.compile(made.f)
    assert compiled(1.0) == 64.0
    kept = pickle.dumps(compiled)
    loaded = pickle.loads(kept)
    assert len(loaded.recorded()) == 1  # the code is the same
    made = write({**PARTS, edited: 20.0} if edited in PARTS else PARTS, 10.0 if edited == "module" else 1.0)
    again = pickle.loads(kept)
    assert again.recorded() == []
    assert [again(1.0), again(-1.0)] == [made.f(1.0), made.f(-1.0)] == [640.0, 640.0]


@pytest.mark.thread_unsafe(reason="edits a module")
def test_code_that_moved_to_other_lines_is_the_same():
    compiled = ag.compile(module("moved_model", "def f(x):\n    return 2 * x if x > 1.0 else -x").f)
    compiled(3.0)
    kept = pickle.dumps(compiled)
    module("moved_model", "# another line\n\ndef f(x):\n\n    return 2 * x if x > 1.0 else -x")
    assert len(pickle.loads(kept).recorded()) == 1


@pytest.mark.thread_unsafe(reason="edits a module")
def test_a_decorated_function_that_was_edited_is_recorded_again():
    code = "import agrad as ag\n@ag.compile\ndef f(x):\n    return {} * x"
    assert module("decorated_model", code.format(2.0)).f(1.0) == 2.0
    kept = pickle.dumps(sys.modules["decorated_model"].f)
    module("decorated_model", code.format(5.0))
    loaded = pickle.loads(kept)
    assert loaded.recorded() == []
    assert loaded(1.0) == 5.0
