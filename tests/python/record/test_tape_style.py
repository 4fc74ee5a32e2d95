"""The direct style: tapes, variables, reverse passes, adjoints; nesting, threads, and values used where they cannot be."""

import math
import threading
import time

import numpy as np
import pytest

import agrad as ag


def test_the_example_of_the_issue():
    with ag.tape():
        x = ag.var(10.3)
        y = x * x
        assert y.grad() is None
        assert x.adj() == 20.6
        assert type(x.adj()) is float
        assert y.adj() == 1.0
        assert y.val() == 10.3 * 10.3


def test_adjoints_of_arrays_and_of_intermediate_values():
    with ag.tape():
        x = ag.var(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        s = np.sin(x[0])
        y = np.sum(s * x[1])
        y.grad()
        np.testing.assert_allclose(s.adj(), [4.0, 5.0, 6.0])
        np.testing.assert_allclose(x.adj(), [np.cos([1.0, 2.0, 3.0]) * [4, 5, 6], np.sin([1.0, 2.0, 3.0])])
        assert x[1, 2].adj() == x.adj()[1, 2]
        np.testing.assert_allclose(x.T.adj(), x.adj().T)
        np.testing.assert_array_equal(x.val(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_gradients_come_back_in_the_structure_that_was_asked_for():
    with ag.tape():
        a, b, c = ag.var(2.0), ag.var([1.0, 3.0]), ag.var(5.0)
        y = a**2 * np.sum(b**2)
        assert y.grad(a) == 40.0
        listed = y.grad([a, b, c])
        assert type(listed) is list
        assert listed[0] == 40.0
        np.testing.assert_array_equal(listed[1], [8.0, 24.0])
        assert listed[2] == 0.0
        nested = y.grad({"a": a, "rest": (b, [c])})
        assert nested["a"] == 40.0
        np.testing.assert_array_equal(nested["rest"][0], [8.0, 24.0])
        assert nested["rest"][1] == [0.0]
        assert y.grad([]) == []


def test_each_reverse_pass_begins_with_zeros():
    with ag.tape():
        x, z = ag.var(3.0), ag.var(4.0)
        first, second = x * z, x**3
        first.grad()
        assert (x.adj(), z.adj()) == (4.0, 3.0)
        second.grad()
        assert (x.adj(), z.adj()) == (27.0, 0.0)
        assert first.grad([x, z]) == [4.0, 3.0]
        later = ag.var(1.0)
        assert later.adj() == 0.0
        assert (x * 2.0).adj() == 0.0
        x.grad()
        assert (x.adj(), z.adj()) == (1.0, 0.0)


def test_a_reverse_pass_agrees_with_grad_bit_by_bit():
    def f(x):
        return np.sum(np.exp(-(x**2)) * np.log1p(x @ x)) / (1 + ag.lgamma(x[0]))

    x0 = np.linspace(0.5, 2.0, 7)
    with ag.tape():
        x = ag.var(x0)
        np.testing.assert_array_equal(f(x).grad(x), ag.grad(f)(x0))


def test_conditions_go_by_the_values_and_loops_reassign():
    def power(base, n):
        result = ag.var(1.0) if n == 0 else base
        for _ in range(n - 1):
            result = result * base
        return result

    with ag.tape():
        x = ag.var(-1.5)
        y = -x if x < 0 else x
        y.grad()
        assert x.adj() == -1.0
        z = power(x, 5)
        assert z.grad(x) == pytest.approx(5 * 1.5**4)
        while y < 100:
            y = y * 2
        assert y.grad(x) == -128.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3.0), (np.int32(3), 3.0), (np.float32(0.5), 0.5), ([1, 2], [1.0, 2.0]), (np.zeros((0, 3)), np.zeros((0, 3)))],
)
def test_what_a_variable_can_be_made_of(value, expected):
    with ag.tape():
        x = ag.var(value)
        assert x.shape == np.shape(expected)
        np.testing.assert_array_equal(x.val(), expected)
        np.testing.assert_array_equal(np.sum(x * 2.0).grad(x), np.full(np.shape(expected), 2.0))


def test_a_variable_is_a_copy():
    values = np.array([1.0, 2.0])
    with ag.tape():
        x = ag.var(values)
        values[0] = 100.0
        np.testing.assert_array_equal(x.val(), [1.0, 2.0])
        x.val()[0] = 7.0
        np.testing.assert_array_equal(x.val(), [1.0, 2.0])


def test_what_no_variable_can_be_made_of():
    with ag.tape():
        with pytest.raises(TypeError, match=r"var: value is complex, but must be real"):
            ag.var(1j)
        for wrong in ("1", None, True, {"a": 1.0}):
            with pytest.raises(TypeError, match=r"var: value is .*, but must be a real number or an array of them"):
                ag.var(wrong)
        with pytest.raises(ag.ShapeError, match="must be rectangular"):
            ag.var([[1.0], [1.0, 2.0]])
        with pytest.raises(
            TypeError, match=r"var: value is a recorded value of tape, but must be plain; use the recorded value itself"
        ):
            ag.var(ag.var(1.0))


def test_a_variable_needs_a_tape():
    with pytest.raises(ag.ScopeError, match=r"var: number of open tapes is 0, but must be at least 1; write it in a block"):
        ag.var(1.0)


def test_only_scalars_are_swept_back_from():
    with ag.tape():
        x = ag.var([1.0, 2.0])
        with pytest.raises(ag.ShapeError, match=r"grad: argument is of shape \(2,\), but must be a scalar"):
            x.grad()
        with pytest.raises(TypeError, match=r"grad: wrt\[1\] is 1.0, but must be a recorded value of a tape"):
            np.sum(x).grad([x, 1.0])


def test_an_adjoint_needs_a_reverse_pass():
    with ag.tape():
        x = ag.var(1.0)
        with pytest.raises(RuntimeError, match=r"adj: number of reverse passes is 0, but must be at least 1"):
            x.adj()


def test_numbers_are_read_by_val_and_not_by_float():
    with ag.tape():
        x = ag.var(2.0)
        for convert in (float, int, math.exp, complex):
            with pytest.raises(TypeError, match="recorded value, but must be a plain number"):
                convert(x)
        assert math.exp(x.val()) == math.exp(2.0)


# ---- scopes ----------------------------------------------------------------------------------------------------------


def test_values_of_a_tape_that_has_ended_raise_by_name():
    with ag.tape():
        x = ag.var(1.0)
        y = x * 2.0
        y.grad()
    uses = {
        "multiply": lambda: x * 2.0,
        "exp": lambda: np.exp(x),
        "adj": x.adj,
        "val": x.val,
        "grad": y.grad,
        "bool": lambda: bool(x),
    }
    for name, use in uses.items():
        with pytest.raises(ag.ScopeError, match=rf"{name}: argument is a recorded value of tape, which has ended"):
            use()
    with ag.tape():
        z = ag.var(2.0)
        with pytest.raises(ag.ScopeError, match="which has ended"):
            z * x
        with pytest.raises(ag.ScopeError, match="which has ended"):
            (z * z).grad([x])


def test_exceptions_leave_everything_usable():
    kept = []

    def leave():
        with ag.tape():
            kept.append(ag.var(1.0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leave()
    with pytest.raises(ag.ScopeError, match="open tapes is 0"):
        ag.var(1.0)
    with pytest.raises(ag.ScopeError, match="ended"):
        kept[0] * 1.0
    with ag.tape():
        y = ag.var(3.0)
        with pytest.raises(ag.ShapeError):
            y * np.ones(2) + np.ones(3)
        assert (y * y).grad(y) == 6.0


def test_tapes_nest():
    with ag.tape():
        x = ag.var(2.0)
        y = x * x
        with ag.tape():
            z = ag.var(5.0)
            w = z**3
            assert w.grad([z]) == [75.0]
            assert x.adj() == 0.0
        with pytest.raises(ag.ScopeError, match="which has ended"):
            z * 1.0
        y = y * x
        assert y.grad(x) == 12.0
        assert ag.var(1.0).adj() == 0.0


def test_an_inner_reverse_pass_goes_on_through_outer_tapes():
    with ag.tape():
        x = ag.var([1.0, 2.0])
        u = x * x
        with ag.tape():
            z = ag.var(3.0)
            w = z * np.sum(u) + x[1] * u[1]
            late = ag.var(10.0)
            w = w * late + np.sum(u)
            np.testing.assert_array_equal(w.grad(x), [3 * 10 * 2 + 2, 3 * 10 * 4 + 10 * 12 + 4])
            assert z.adj() == 50.0
            assert late.adj() == 3 * 5 + 2 * 4
            np.testing.assert_array_equal(u.adj(), [31.0, 51.0])
            with ag.tape():
                t = ag.var(2.0)
                v = t * w * z * x[0]  # of all three tapes
                np.testing.assert_allclose(v.grad(t), w.val() * 3.0)
                np.testing.assert_allclose(x.adj(), [6 * 62.0 + 6 * w.val(), 6 * 244.0])
                assert z.adj() == pytest.approx(2 * (w.val() + 3 * 50.0))
        assert np.sum(u).grad(x).tolist() == [2.0, 4.0]


def test_a_value_of_a_function_is_not_captured_by_a_tape():
    def f(x):
        with ag.tape():
            z = ag.var(1.0)
            return z * x

    for transform in (ag.grad, ag.compile):
        with pytest.raises(ag.ScopeError, match=r"multiply: argument is a recorded value of .*f\), but must belong to tape"):
            transform(f)(2.0)


def test_members_of_a_tape_are_refused_elsewhere():
    for read in (lambda x: x.val(), lambda x: x.adj(), lambda x: (x * x).grad()):
        with pytest.raises(TypeError, match=r"argument is a recorded value of grad\(<lambda>\), but must be of a tape"):
            ag.grad(read)(1.0)


def test_a_tape_within_a_function_with_numbers_of_its_own():
    def slope_at_two():
        with ag.tape():
            x = ag.var(2.0)
            return (x**3).grad(x)

    assert ag.grad(lambda x: x * slope_at_two())(1.0) == 12.0


def test_transformations_within_a_tape():
    with ag.tape():
        x = ag.var(3.0)
        inner = ag.grad(lambda t: t**3)(2.0)
        assert (x * inner).grad(x) == 12.0
        compiled = ag.compile(lambda t: t * t)
        assert compiled(x).grad(x) == 6.0


def test_threads_have_tapes_of_their_own():
    failures = []

    def work(n):
        try:
            for k in range(50):
                with ag.tape():
                    x = ag.var(float(n + k))
                    y = x
                    for _ in range(20):
                        y = y * 1.0 + x
                    assert (y * x).grad(x) == 2 * 21.0 * (n + k)
        except BaseException as error:
            failures.append(error)

    with ag.tape():
        x = ag.var(1.0)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        alone = []
        threads.append(threading.Thread(target=lambda: alone.append(_raises_without_tape())))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (x * 2.0).grad(x) == 2.0
    assert failures == []
    assert alone == [True]


def _raises_without_tape():
    try:
        ag.var(1.0)
    except ag.ScopeError:
        return True
    return False


def test_a_long_loop_is_linear_in_its_length():
    def seconds(n):
        begin = time.perf_counter()
        with ag.tape():
            x = ag.var(0.5)
            y = x
            for _ in range(n):
                y = y * 0.999 + x
            slope = y.grad(x)
        assert slope == pytest.approx(0.999**n + (1 - 0.999**n) / 0.001, rel=1e-10)
        return time.perf_counter() - begin

    seconds(100)
    assert seconds(50_000) < 20  # 0.1 s on an idle machine; quadratic growth would take hours


def test_many_values_of_an_outer_tape_are_captured_once_each():
    with ag.tape():
        x = ag.var(np.arange(5.0))
        with ag.tape():
            z = ag.var(2.0)
            total = 0.0
            for _ in range(3):
                for n in range(5):
                    total = total + z * x[n]
                z2 = ag.var(1.0)
                total = total * z2
            np.testing.assert_array_equal(total.grad(x), np.full(5, 6.0))


def test_a_differential_equation_on_a_tape():
    with ag.tape():
        rate, start = ag.var(0.5), ag.var(2.0)
        y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), np.stack([start]), args=(rate,), rtol=1e-10, atol=1e-12).y[0, -1]
        y.grad()
        assert y.val() == pytest.approx(2 * math.exp(-0.5), rel=1e-7)
        assert rate.adj() == pytest.approx(-2 * math.exp(-0.5), rel=1e-6)
        assert start.adj() == pytest.approx(math.exp(-0.5), rel=1e-6)


def test_linear_algebra_and_densities_on_a_tape():
    with ag.tape():
        mu, a = ag.var(0.5), ag.var([[2.0, 0.3], [0.1, 1.0]])
        y = ag.normal_lpdf(np.array([1.0, 2.0]), mu, 1.5) + np.sum(a @ np.array([1.0, 2.0]))
        gradient = y.grad({"mu": mu, "a": a})
        assert gradient["mu"] == pytest.approx((0.5 + 1.5) / 1.5**2)
        np.testing.assert_array_equal(gradient["a"], [[1.0, 2.0], [1.0, 2.0]])
