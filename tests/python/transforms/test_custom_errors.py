"""custom_vjp: exceptions of the user's functions come out unchanged, and mistakes in them are explained."""

import numpy as np
import pytest

import agrad as ag


def custom(function, fwd=None, bwd=None):
    f = ag.custom_vjp(function)
    f.defvjp(fwd or (lambda x: (function(x), x)), bwd or (lambda x, g: (g,)))
    return f


def test_exceptions_come_out_unchanged():
    class OddError(Exception):
        pass

    @ag.custom_vjp
    def f(x):
        if x > 2:
            raise OddError("too large")
        return x * 2.0

    def fwd(x):
        return f(x), x

    def bwd(x, g):
        if x < 0:
            raise OddError("negative")
        return (2.0 * g,)

    f.defvjp(fwd, bwd)
    compiled = ag.compile(ag.grad(f))
    for g in (ag.grad(f), compiled, compiled):
        with pytest.raises(OddError, match="too large") as caught:
            g(3.0)
        assert caught.traceback[-1].name == "f"
        with pytest.raises(OddError, match="negative"):
            g(-1.0)
        assert g(1.0) == 2.0
    plain = ag.compile(lambda x: f(x) + 1.0)
    assert plain(1.0) == 3.0
    with pytest.raises(OddError):
        plain(3.0)
    assert plain(2.0) == 5.0


def test_mistakes_in_the_functions_are_explained():
    def check(f, error, message, x=1.0):
        with pytest.raises(error, match=message):
            ag.grad(lambda x: np.sum(f(x)))(x)

    def wrong(x):
        return x

    label = r"custom_vjp\(wrong\): "
    check(custom(wrong, fwd=lambda x: x), TypeError, label + r"fwd returned 1.0, but must return a pair \(result, residuals\)")
    check(custom(wrong, fwd=lambda x: (None, x)), TypeError, label + "result is None, but must be real numbers; does the")
    check(custom(wrong, fwd=lambda x: (1j, x)), TypeError, label + "result is 1j, but must be real numbers")
    check(custom(wrong, fwd=lambda x: ("a", x)), TypeError, label + "result is 'a', but must be real numbers")
    check(custom(wrong, bwd=lambda x, g: (g, g)), TypeError, label + r"bwd returned \(1.0, 1.0\), but must return a tuple of 1")
    check(
        custom(wrong, bwd=lambda x, g: (np.ones(2),)),
        ag.ShapeError,
        label + r"cotangent of argument 0 is of shape \(2,\), but must be of shape \(\), as the argument",
    )
    check(
        custom(wrong, bwd=lambda x, g: ({"a": g},)),
        TypeError,
        label + "cotangent of argument 0 is .*, but must be of the struc",
    )
    check(custom(wrong, bwd=lambda x, g: ("a",)), TypeError, label + "cotangent of argument 0 is 'a', but must be real numbers")
    with pytest.raises(TypeError, match=r"custom_vjp\(wrong\): derivative is undefined, but must be known; call its defvjp"):
        ag.custom_vjp(wrong)(1.0)
    with pytest.raises(TypeError, match="custom_vjp: function is 3, but must be callable"):
        ag.custom_vjp(3)
    with pytest.raises(TypeError, match=r"custom_vjp\(wrong\).defvjp: argument 1 is None, but must be callable"):
        ag.custom_vjp(wrong).defvjp(wrong, None)
    with pytest.raises(TypeError, match=r"custom_vjp\(<lambda>\): result is a recorded value of grad\(.*\), but must be plain"):
        ag.grad(lambda x: custom(lambda y: x * y)(2.0 * x))(1.0)


def test_a_result_that_changes_its_shape_is_noticed():
    f = custom(lambda x: np.ones(int(x)))
    compiled = ag.compile(lambda x: np.sum(f(x)))
    assert compiled(2.0) == 2.0
    with pytest.raises(
        ag.ShapeError, match=r"result is of shape \(3,\), but must be of shape \(2,\), as it was when it was rec"
    ):
        compiled(3.0)
    g = custom(lambda x: {"a": x} if x > 0 else {"b": x})
    compiled = ag.compile(lambda x: g(x))
    assert compiled(2.0) == {"a": 2.0}
    with pytest.raises(
        TypeError, match=r"result is {'b': -1.0}, but must be of the structure that it had when it was recorded"
    ):
        compiled(-1.0)


def test_exceptions_within_a_right_hand_side_come_out_unchanged():
    @ag.custom_vjp
    def decay(y):
        if y[0] < 0.5:
            raise KeyError("low")
        return -y

    def bwd(low, g):
        if low < 0.8:
            raise LookupError("in the reverse pass")
        return (-g,)

    decay.defvjp(lambda y: (decay(y), y[0]), bwd)

    def end(end):
        return lambda y0: ag.solve_ivp(lambda t, y: decay(y), (0.0, end), np.stack([y0]), "Adams").y[0, -1]

    with pytest.raises(KeyError, match="low"):
        end(5.0)(1.0)
    with pytest.raises(LookupError, match="in the reverse pass"):
        ag.grad(end(0.5))(1.0)
    assert ag.grad(end(0.1))(1.0) == pytest.approx(np.exp(-0.1), rel=1e-4)
