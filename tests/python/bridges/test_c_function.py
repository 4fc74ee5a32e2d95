"""Compiled values and gradients, called from C: the same bits, codes of errors, and what the object tells."""

import copy
import ctypes
import gc
import multiprocessing
import pickle
import threading
import weakref

import numpy as np
import pytest

import agrad as ag
from c_calls import called, eight_schools, numbers_of_pickle, pointer

START = np.linspace(-1, 1, 10)


def weighed(x, data, scale):
    return scale * np.sum(data["w"] * np.sin(x)) + x @ data["a"] @ x


def decay(x):
    solution = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 2.0), np.array([1.0]), t_eval=np.array([1.0, 2.0]), args=(x[0],))
    return -np.sum((solution.y - 0.3) ** 2)


def bits(values):
    return np.asarray(values, dtype=float).tobytes()


@pytest.mark.parametrize("function", [eight_schools, decay], ids=["eight schools", "solve"])
def test_numbers_are_those_of_the_compiled_function_to_the_last_bit(function):
    n = 10 if function is eight_schools else 1
    compiled = ag.compile(ag.value_and_grad(function))
    rng = np.random.default_rng(1)
    f = ag.c_function(compiled, np.ones(n))
    for _ in range(20):
        x = rng.normal(size=n) ** 2 if function is decay else rng.normal(size=n)
        value, gradient = compiled(x)
        for tool in ("nutpie", "walnutpie"):
            code, value_in_c, gradient_in_c = called(f, x, tool=tool)
            assert code == 0
            assert bits(value_in_c) == bits(value)
            assert bits(gradient_in_c) == bits(gradient)
        assert bits(called(f, x, with_gradient=False)[1]) == bits(value)  # the same steps of the solve
        own = np.full(n, np.nan)
        assert bits(f.signature("owalnuts")(n, pointer(x), pointer(own), f.context)) == bits(value)
        assert bits(own) == bits(gradient)
        assert bits(f(x)[0]) == bits(value)
        assert bits(f(x)[1]) == bits(gradient)


def test_other_arguments_keep_their_values():
    data = {"w": np.arange(1.0, 4.0), "a": np.outer(np.ones(3), [1.0, 2.0, 3.0])}
    compiled = ag.compile(ag.value_and_grad(weighed))
    f = ag.c_function(compiled, np.zeros(3), data, 2.5)
    x = np.array([0.3, -0.2, 1.7])
    value, gradient = compiled(x, data, 2.5)
    data["w"][:] = 0  # later changes are not seen
    code, value_in_c, gradient_in_c = called(f, x)
    assert (code, value_in_c) == (0, value)
    np.testing.assert_array_equal(gradient_in_c, gradient)


def test_other_arguments_keep_their_values_on_later_paths():
    def either(x, scale):
        return scale[0] * x[0] if x[0] > 0 else -scale[0] * x[0]

    scale = np.array([2.0])
    f = ag.c_function(either, np.ones(1), scale)
    scale[:] = 100.0
    assert called(f, [3.0])[:2] == (0, 6.0)
    assert called(f, [-3.0])[:2] == (0, 6.0)  # a path that Python records now


@pytest.mark.parametrize(
    "form",
    [eight_schools, ag.compile(eight_schools), ag.value_and_grad(eight_schools), ag.compile(ag.value_and_grad(eight_schools))],
    ids=["function", "compiled", "value_and_grad", "compiled value_and_grad"],
)
def test_function_may_have_any_of_its_forms(form):
    assert called(ag.c_function(form, START), START)[1] == pytest.approx(eight_schools(START), rel=1e-14)


def test_method_and_empty_vector():
    class Model:
        def __init__(self):
            self.scale = 2.0

        def density(self, x):
            return -self.scale * np.sum(x**2)

    f = ag.c_function(Model().density, np.ones(2))
    assert called(f, [1.0, 2.0])[1] == -10
    with pytest.raises(TypeError, match="float"):  # as value_and_grad says of an argument without numbers
        ag.c_function(Model().density, np.zeros((0, 2)))


def guarded(x):
    return ag.normal_lpdf(0.5, 0.0, x[0]) if x[1] > 0 else -(x[0] ** 2)


def test_codes_counts_and_sentences():
    f = ag.c_function(guarded, np.ones(2))
    assert called(f, [2.0, 1.0])[0] == 0
    assert called(f, [-2.0, 1.0])[0] == 1
    assert f.last_error == "normal_lpdf: sigma is -2, but must be positive and finite"
    assert called(f, [0.0, 1.0])[0] == 1
    assert called(f, [np.nan, 1.0])[0] == 1
    assert called(f, [np.nan, -1.0])[0] == 3
    assert called(f, [1.0, 2.0, 3.0])[0] == -1
    assert f.last_error == "c_function: size of x is 3, but must be 2"
    counts = f.counts
    assert counts == {"calls": 6, "domain": 3, "solver": 0, "not finite": 1, "ended": 1}
    f.reset()
    assert f.counts == {"calls": 0, "domain": 0, "solver": 0, "not finite": 0, "ended": 0}
    assert f.last_error == ""


def test_value_that_is_not_finite_has_a_code():
    f = ag.c_function(lambda x: ag.where(x[0] > 0, -x[0], -np.inf) + 0.0 * x[0], np.ones(1))
    assert called(f, [-1.0])[0] == 3
    assert "value is" in f.last_error
    f = ag.c_function(lambda x: np.sqrt(x[0]), np.ones(1))
    assert called(f, [0.0])[0] == 3
    assert "gradient[0] is" in f.last_error


def test_solver_that_stops_has_a_code():
    def stopping(x):
        solution = ag.solve_ivp(lambda t, y, k: k * y**2, (0.0, 2.0), np.array([1.0]), args=(x[0],), t_eval=np.array([2.0]))
        return np.sum(solution.y)

    f = ag.c_function(stopping, np.array([0.1]))
    assert called(f, [0.1])[0] == 0
    assert called(f, [5.0])[0] == 2  # y is infinite at t = 0.2
    assert f.counts["solver"] == 1


def test_values_of_signatures_without_a_code():
    f = ag.c_function(guarded, np.ones(2))
    for x, expected in (([-2.0, 1.0], -np.inf), ([2.0, 1.0, 3.0], np.nan)):
        x, gradient = np.array(x), np.zeros(3)
        value = f.signature("numba")(x.size, pointer(x), pointer(gradient), f.context)
        np.testing.assert_equal(value, expected)


def test_other_path_is_recorded_and_has_its_own_numbers():
    f = ag.c_function(lambda x: -0.5 * x[0] ** 2 if x[0] > 0 else -0.5 * (2 * x[0]) ** 2, np.ones(1))
    for x in (-3.0, 2.0, -0.5):
        code, value, gradient = called(f, [x])
        factor = 1.0 if x > 0 else 4.0
        assert (code, value, gradient[0]) == (0, -0.5 * factor * x**2, -factor * x)


def test_loop_whose_body_takes_another_path_is_recorded():
    def body(carry, each):
        return (carry + each if each > 0 else carry - 3.0 * each), None

    f = ag.c_function(lambda x: ag.scan(body, 0.0, x)[0], np.ones(3))
    code, value, gradient = called(f, [1.0, -2.0, 3.0])
    assert (code, value) == (0, 10.0)
    np.testing.assert_array_equal(gradient, [1.0, -3.0, 1.0])


def test_more_paths_than_are_stored_have_right_numbers():
    def steps(x):
        n = 0
        while n < x[0]:
            n += 1
        return n * x[0]

    f = ag.c_function(steps, np.ones(1))
    points = np.arange(1, 80) - 0.5
    with pytest.warns(RuntimeWarning, match="number of paths"):
        found = [called(f, [x])[:2] for x in points]
    assert found == [(0, np.ceil(x) * x) for x in points]


def test_errors_that_the_function_catches_are_no_rejections():
    def careful(x):
        try:
            return ag.normal_lpdf(0.5, 0.0, x[0])
        except ag.DomainError:
            return -(x[0] ** 2) - 1.0

    f = ag.c_function(careful, np.ones(1))
    assert called(f, [1.0])[0] == 0
    code, value, gradient = called(f, [-2.0])
    assert (code, value, gradient[0]) == (0, -5.0, 4.0)

    def refusing(x):
        try:
            y = ag.normal_lpdf(0.5, 0.0, x[0])
        except ag.DomainError:
            y = 0.0
        return y + ag.exponential_lpdf(1.0, x[1])

    f = ag.c_function(refusing, np.ones(2))
    assert called(f, [1.0, -1.0])[0] == 1
    assert called(f, [-1.0, 4.0])[:2] == (0, np.log(4.0) - 4.0)


def test_functions_that_call_python_are_refused_by_name():
    @ag.custom_vjp
    def square(x):
        return x**2

    square.defvjp(lambda x: (x**2, x), lambda x, bar: (2 * x * bar,))
    with pytest.raises(TypeError, match=r"^c_function: .*square.*write it with functions of agrad$"):
        ag.c_function(lambda x: np.sum(square(x)), np.ones(2))
    with pytest.raises(TypeError, match="square"):
        ag.c_function(lambda x: ag.scan(lambda c, e: (c + square(e), None), 0.0, x)[0], np.ones(3))


@pytest.mark.parametrize(
    ("function", "x", "message"),
    [
        (eight_schools, np.ones((2, 5)), "x is of shape"),
        (eight_schools, np.ones(10, int), "type int64"),
        (eight_schools, 1.0, "x is of shape"),
        (ag.grad(eight_schools), START, "function is "),
        (ag.compile(ag.hessian(eight_schools)), START, "function is "),
        (ag.value_and_grad(weighed, argnums=1), START, "function is "),
        (ag.value_and_grad(lambda x: (x[0], x), has_aux=True), START, "function is "),
        (3, START, "callable"),
    ],
)
def test_what_is_no_function_of_a_vector_raises(function, x, message):
    with pytest.raises(TypeError, match=message):
        ag.c_function(function, x)


def test_call_raises_the_errors_of_the_function():
    f = ag.c_function(guarded, np.ones(2))
    with pytest.raises(ag.DomainError, match=r"test_c_function\.py"):
        f([-2.0, 1.0])
    with pytest.raises(ag.ShapeError, match=r"shape \(3,\), but must be of shape \(2,\)"):
        f(np.ones(3))
    with pytest.raises(ValueError, match="nutpie"):
        f.signature("stan")
    f.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        f(np.ones(2))
    f.reset()
    assert f(np.ones(2))[0] == ag.normal_lpdf(0.5, 0.0, 1.0)
    assert "guarded" in repr(f)


@pytest.mark.thread_unsafe(reason="counts the calls of a function")
def test_threads_get_the_same_bits():
    f = ag.c_function(eight_schools, START)
    points = np.random.default_rng(2).normal(size=(50, 10))
    expected = [called(f, x) for x in points]
    found = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda to=to: to.extend(called(f, x) for x in points)) for to in found]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for results in found:
        for (code, value, gradient), (_, value_1, gradient_1) in zip(results, expected, strict=True):
            assert code == 0
            assert bits(value) == bits(value_1)
            assert bits(gradient) == bits(gradient_1)
    assert f.counts["calls"] == 250


@pytest.mark.thread_unsafe(reason="starts processes")
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_function_runs_in_another_process(start):
    f = ag.c_function(eight_schools, START)
    with multiprocessing.get_context(start).Pool(1) as pool:
        (code, value, gradient), calls = pool.apply(numbers_of_pickle, (pickle.dumps(f), START / 2))
    expected = called(f, START / 2)
    assert (code, value, calls) == (0, expected[1], 1)
    np.testing.assert_array_equal(gradient, expected[2])
    assert called(copy.deepcopy(f), START / 2)[1] == expected[1]


def test_null_pointers_of_context_and_value():
    f = ag.c_function(eight_schools, START)
    gradient = np.zeros(10)
    assert f.signature("nutpie")(10, pointer(START), pointer(gradient), ctypes.POINTER(ctypes.c_double)(), f.context) == 0
    np.testing.assert_array_equal(gradient, f(START)[1])
    assert f.signature("nutpie")(10, pointer(START), pointer(gradient), pointer(np.zeros(1)), None) < 0


def test_functions_leave_no_cycles():
    gc.collect()
    f = ag.c_function(guarded, np.ones(2))
    gone = []
    weakref.finalize(f, gone.append, True)
    del f
    assert gone
