"""debug_nans names the operation and the line that made the first nan; too many paths name the line of the comparison."""

import threading
from inspect import currentframe
from pathlib import Path

import numpy as np
import pytest

import agrad as ag

HERE = Path(__file__).name


def logarithm(x):
    shifted = x - 1.0
    return np.log(shifted) * 2.0  # the line of the nan


def line_of(text):
    return Path(__file__).read_text().splitlines().index(text) + 1


LINE = line_of("    return np.log(shifted) * 2.0  # the line of the nan")


def raises(message):
    return pytest.raises(FloatingPointError, match=message)


@pytest.mark.parametrize(
    "transform",
    [
        ag.grad,
        ag.value_and_grad,
        ag.jacobian,
        ag.jacfwd,
        ag.hessian,
        ag.compile,
        lambda f: ag.compile(ag.grad(f)),
        lambda f: ag.compile(ag.jacobian(f)),
        lambda f: lambda x: ag.jvp(f, (x,), (1.0,)),
        lambda f: lambda x: ag.vjp(ag.compile(f), x),
    ],
)
def test_the_operation_and_the_line_are_named(transform):
    f = transform(logarithm)
    with np.errstate(all="ignore"):
        f(0.5)  # no error outside
        with ag.debug_nans():
            f(2.0)
            pattern = (
                r"^log: result is nan, but must be finite; it was computed from -0.5 in "
                rf".*logarithm\) at .*{HERE}:{LINE}: return np"
            )
            with raises(pattern):
                f(0.5)
            f(2.0)
        f(0.5)


def test_the_entry_is_named():
    with ag.debug_nans(), raises(r"log: result\[2\] is nan, but must be finite; it was computed from -3.0 in"):
        ag.grad(lambda x: np.sum(np.log(x)))(np.array([1.0, 2.0, -3.0, -4.0]))


def test_both_arguments_are_named():
    with ag.debug_nans(), raises(r"divide: result\[1\] is nan, but must be finite; it was computed from 0.0, 0.0 in"):
        ag.grad(lambda x, y: np.sum(x / y))(np.array([1.0, 0.0]), np.array([1.0, 0.0]))


def test_infinities_out_of_finite_numbers():
    f = ag.grad(lambda x: np.exp(-np.exp(x)))
    with ag.debug_nans(), raises(r"exp: result is inf, but must be finite; it was computed from 1000.0 in"):
        f(1000.0)
    with (
        ag.debug_nans(infinities=False),
        raises(r"subtract: result is nan, but must be finite; it was computed from inf, inf in"),
    ):
        ag.grad(lambda x: np.exp(x) - np.exp(2 * x))(1000.0)
    with ag.debug_nans(infinities=False):
        assert ag.grad(lambda x: np.where(x > 0, np.inf, x))(-1.0) == 1.0
    with ag.debug_nans():
        assert ag.grad(lambda x: np.where(x > 0, x, np.inf) * 1.0)(1.0) == 1.0
        with pytest.raises(FloatingPointError, match="divide: result is inf"):
            ag.grad(lambda x: 1.0 / x)(0.0)


def test_a_nan_of_the_reverse_pass_is_found():
    def norm(x):
        squares = np.sum(x * x)
        return np.sqrt(squares)  # infinite derivative

    line = currentframe().f_lineno - 2
    for f in (ag.grad(norm), ag.compile(ag.grad(norm)), ag.compile(ag.value_and_grad(norm))):
        assert np.sum(f(np.zeros(2))[-1]) == 0  # nothing passes 2 x, which is zero
        with (
            ag.debug_nans(),
            raises(
                r"sqrt: adjoint of argument 0 is inf, but must be finite; the reverse pass computed it for the arguments "
                rf"0.0, in .*norm\) at .*{HERE}:{line}: return np.sqrt"
            ),
        ):
            f(np.zeros(2))

    def difference(x):
        return np.sqrt(x) - np.sqrt(2.0 * x)

    assert np.isnan(ag.grad(difference)(0.0))
    with ag.debug_nans(infinities=False), raises("adjoint of .* is nan, but must be finite"):
        ag.grad(difference)(0.0)


def test_a_nan_among_the_arguments_is_named():
    with (
        ag.debug_nans(),
        raises(r"grad\(<lambda>\): input\[1\] is nan, but must be a number; it was passed in .*test_debug_nans.py"),
    ):
        ag.grad(lambda x: np.sum(x))(np.array([1.0, np.nan]))


def test_nan_among_the_data_is_found_where_it_is_used():
    data = np.array([1.0, np.nan, 3.0])
    with ag.debug_nans():
        assert ag.grad(lambda x: np.sum(np.where(np.isnan(data), 0.0, x)))(2.0) == 2.0
        with raises(r"multiply: result\[1\] is nan, but must be finite; it was computed from 2.0, nan in"):
            ag.grad(lambda x: np.sum(x * data))(2.0)


def test_callbacks_and_tapes_are_looked_at():
    @ag.custom_vjp
    def f(x):
        return np.nan

    f.defvjp(lambda x: (x, None), lambda _, g: (np.nan * g,))
    with ag.debug_nans(), ag.tape():
        x = ag.var(1.0)
        y = f(x)
        with raises(r"custom_vjp\(f\): adjoint of argument 0 is nan"):
            y.grad()
        with raises(r"log: result is nan, .* in tape at .*test_debug_nans.py"):
            np.log(-x)
        assert (x * x).grad(x) == 2.0
    with ag.debug_nans(), raises(r"custom_vjp\(f\): result is nan, .* at .*test_debug_nans.py:.*: ag.compile"):
        ag.compile(lambda x: f(x))(1.0)


def leave_a_block_within_another(f):
    with ag.debug_nans():
        with ag.debug_nans(infinities=False):
            f(0.0)
        with raises("log: result is -inf"):
            f(0.0)
        raise KeyError


def test_blocks_nest_and_end_with_exceptions():
    f = ag.grad(lambda x: np.log(x) * 2.0)
    with np.errstate(all="ignore"):
        with pytest.raises(KeyError):
            leave_a_block_within_another(f)
        assert f(0.0) == np.inf


def test_a_block_belongs_to_its_thread():
    results = []
    with ag.debug_nans():
        thread = threading.Thread(target=lambda: results.append(ag.grad(lambda x: np.sqrt(x) * 1.0)(0.0)))
        thread.start()
        thread.join()
    assert results == [np.inf]


def test_compiled_functions_are_run_as_usual_when_there_is_no_nan():
    calls = []

    def f(x):
        calls.append(x)
        return x**2 if x > 0 else -x

    compiled = ag.compile(f)
    with ag.debug_nans():
        assert [compiled(2.0), compiled(3.0), compiled(-1.0)] == [4.0, 9.0, 1.0]
    assert len(calls) == 5  # once for each path, once for each call in the block
    assert compiled(5.0) == 25.0
    assert len(calls) == 5


def test_a_derivative_of_a_differential_equation():
    with ag.debug_nans(), raises(r"log: result.* is nan, .* in solve_ivp\(.*\) at .*test_debug_nans.py"):
        ag.grad(lambda k: ag.solve_ivp(lambda t, y, k: -k * np.log(y), (0.0, 1.0), [-1.0], args=(k,)).y[0, -1])(1.0)


# ---- the line of a comparison ----------------------------------------------------------------------------------------


def test_too_many_paths_name_the_comparison():
    def f(x):
        if x < -1000:
            return x
        n = 0.0
        while x > n:  # the line where paths part
            n += 1.0
        return x * n

    line = currentframe().f_lineno - 4
    compiled = ag.compile(f)
    for n in range(64):
        assert compiled(n - 0.5) == (n - 0.5) * n
    with pytest.warns(
        RuntimeWarning,
        match=r"compile\(f\): number of paths that comparisons took is 65, but at most 64 are stored; each call on another "
        r"path records the function again, which is slow; choose with np.where instead of the comparison at "
        rf".*{HERE}:{line}: while x > n:",
    ):
        assert compiled(64.5) == 64.5 * 65
    assert compiled(64.5) == 64.5 * 65
    assert compiled(3.5) == 3.5 * 4


def test_several_comparisons_are_listed():
    def f(x):
        total = 0.0
        total = total + (x[0] if x[0] > 0 else -x[0])
        total = total + (x[1] if x[1] > 0 else -x[1])
        total = total + (x[2] if x[2] > 0 else -x[2])
        for n in range(3, 7):
            total = total + (x[n] if x[n] > 0 else -x[n])
        return total

    compiled = ag.compile(ag.grad(f))

    def call(n):
        return compiled(np.array([1.0 if n >> k & 1 else -1.0 for k in range(7)]))

    for n in range(64):
        call(n)
    with pytest.warns(RuntimeWarning, match=r"x\[n\] if x\[n\] > 0 else -x\[n\].*; .*x\[0\] if.*; .*x\[1\] .*\(and 1 more\)"):
        call(64)


def test_a_comparison_in_code_without_a_file():
    namespace = {}
    exec("def f(x):\n    n = 0\n    while x > n:\n        n += 1\n    return x * n", namespace)
    compiled = ag.compile(namespace["f"])
    for n in range(64):
        compiled(n - 0.5)
    with pytest.warns(RuntimeWarning, match=r"instead of the comparison at <string>:3$"):
        assert compiled(64.5) == 64.5 * 65
