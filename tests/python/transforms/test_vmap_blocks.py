"""A plain call of vmap takes its rows in blocks: results, paths and memory do not show it."""

import subprocess
import sys

import numpy as np
import pytest

import agrad as ag

N = 9001  # more than two blocks


def crooked(x, a):
    return np.sqrt(x) * a if x > 0.3 else x * x + a


def rows():
    return np.random.default_rng(1).uniform(-1, 1, N)


def test_rows_on_all_paths_are_in_their_places():
    x = rows()
    expected = np.where(x > 0.3, np.sqrt(np.abs(x)) * 2.5, x * x + 2.5)
    np.testing.assert_array_equal(ag.vmap(crooked, in_axes=(0, None))(x, 2.5), expected)
    slopes = np.where(x > 0.3, 1.25 / np.sqrt(np.abs(x)), 2 * x)
    np.testing.assert_allclose(ag.vmap(ag.grad(crooked), in_axes=(0, None))(x, 2.5), slopes, rtol=1e-14)


def test_numbers_are_those_of_a_compiled_call():
    x = rows().reshape(-1, 1) * np.arange(1.0, 4.0)

    def f(row):
        return {"sum": np.sum(np.exp(row)), "slopes": ag.grad(lambda y: np.prod(np.sin(y)))(row), "count": 3}

    plain, compiled = ag.vmap(f)(x), ag.compile(ag.vmap(f))(x)
    assert plain["count"].dtype == np.int64
    for name in ("sum", "slopes"):
        np.testing.assert_array_equal(plain[name], compiled[name])


def test_the_function_is_called_once_for_a_path():
    calls = []

    def f(x):
        calls.append(1)
        return x + len(calls)

    np.testing.assert_array_equal(ag.vmap(f)(np.zeros(N)), np.ones(N))
    assert len(calls) == 1


def test_whole_numbers_choose_rows_in_all_blocks():
    kinds = np.arange(N) % 3
    table = np.array([2.0, 3.0, 5.0])
    x = rows()
    np.testing.assert_array_equal(ag.vmap(lambda v, k: v * table[k])(x, kinds), x * table[kinds])


def test_an_error_in_the_last_block_is_raised():
    x = np.ones(N)
    x[-1] = -1.0
    with pytest.raises(ag.DomainError, match="sigma"):
        ag.vmap(lambda s: ag.normal_lpdf(0.5, 0.0, s))(x)
    np.testing.assert_array_equal(ag.vmap(lambda s: s * 2)(x), 2 * x)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read in kilobytes, as on Linux")
def test_memory_grows_by_arguments_and_results_alone():
    program = """
import resource, numpy as np, agrad as ag
f = ag.vmap(ag.grad(lambda x: np.sum(np.tanh(x) * np.exp(x) + np.sqrt(1 + x * x))))
def peak(n):
    x = np.linspace(0.0, 1.0, 8 * n).reshape(n, 8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f(x)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
peak(20_000)
print(peak(400_000))
"""
    grown = float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
    assert grown < 3.5 * 400_000 * 8 * 8 / 2**20, "the results, their copy with another shape, and one more copy"
