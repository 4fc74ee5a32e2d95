"""compile(f, error_control=...): values of a compiled function and of its gradient come from the same steps."""

import pickle

import numpy as np
import pytest

import agrad as ag

METHODS = ["auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P"]
TIMES = np.linspace(2.0, 20.0, 10)
AT = np.array([0.55, 0.028, 0.84, 0.026])


def slope(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]]


def by_argument(p, **options):
    return np.sum(np.log(ag.solve_ivp(slope, (0.0, 20.0), [30.0, 4.0], t_eval=TIMES, args=(p,), **options).y))


def by_capture(p, **options):
    y0 = np.stack([30.0 * p[0], 4.0])
    return np.sum(ag.solve_ivp(lambda t, y: np.stack(slope(t, y, p)), (0.0, 20.0), y0, t_eval=TIMES, **options).y)


def with_a_dose(p, **options):
    dose = ag.Dose(5.0, 0, 10.0 * p[1])
    return np.sum(ag.solve_ivp(slope, (0.0, 20.0), [30.0, 4.0], args=(p,), doses=[dose], **options).y[:, -1])


def many(p, **options):
    subjects = [ag.Subject((0.0, end), [30.0, 4.0], [end], (p,)) for end in (5.0, 12.0)]
    return sum(np.sum(each.y) for each in ag.solve_many(slope, subjects, **options))


LOSSES = [by_argument, by_capture, with_a_dose, many]
a_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda each: each.__name__)


@pytest.mark.parametrize("control", ["derivatives", "states"])
@pytest.mark.parametrize("method", METHODS)
@a_loss
def test_values_are_the_same_bits(loss, method, control):
    def of(p):
        return loss(p, method=method, rtol=1e-4)

    value = ag.compile(of, error_control=control)(AT)
    both, gradient = ag.compile(ag.value_and_grad(of), error_control=control)(AT)
    assert value == both
    assert np.array_equal(ag.compile(ag.grad(of), error_control=control)(AT), gradient)
    assert value == pytest.approx(of(AT), rel=1e-2)


@a_loss
def test_by_default_values_differ(loss):
    """What the choice is for; else the tests above show nothing."""

    def of(p):
        return loss(p, method="Rodas4", rtol=1e-3)

    assert ag.compile(of)(AT) != ag.compile(ag.value_and_grad(of))(AT)[0]


def test_the_choice_of_a_solve_comes_first():
    def of(p, control="auto"):
        return by_argument(p, method="Rodas4", rtol=1e-3, error_control=control)

    own = ag.compile(lambda p: of(p, "states"), error_control="derivatives")(AT)
    assert own == ag.compile(of, error_control="states")(AT) == of(AT)
    assert own != ag.compile(of, error_control="derivatives")(AT)


def test_the_choice_ends_with_the_recording():
    def of(p):
        return by_argument(p, method="Rodas4", rtol=1e-3)

    plain = of(AT)
    inner = ag.compile(of)

    def outer(p):
        return p[0] + inner(AT)  # a call with plain numbers has a recording, and a choice, of its own

    assert ag.compile(outer, error_control="derivatives")(AT) == AT[0] + plain
    assert of(AT) == inner(AT) == plain

    def fails(p):
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        ag.compile(fails, error_control="derivatives")(AT)
    assert of(AT) == plain


def test_a_compiled_function_within_another_takes_the_choice_of_the_outer():
    inner = ag.compile(lambda p: by_argument(p, method="Rodas4", rtol=1e-3))
    value = ag.compile(lambda p: inner(p), error_control="derivatives")(AT)
    assert value == ag.compile(ag.value_and_grad(lambda p: inner(p)), error_control="derivatives")(AT)[0]


def test_nested_gradients_and_rows_take_the_choice():
    def of(p):
        return by_argument(p, method="Rodas4", rtol=1e-3)

    rows = np.stack([AT, 1.01 * AT])
    single = ag.compile(of, error_control="derivatives")
    found = ag.compile(ag.vmap(of), error_control="derivatives")(rows)
    np.testing.assert_allclose(found, [single(row) for row in rows], rtol=1e-14)
    assert np.all(np.abs(found / ag.compile(ag.vmap(of))(rows) - 1) > 1e-8)


class Model:
    rtol = 1e-3

    def of(self, p):
        return by_argument(p, method="Rodas4", rtol=self.rtol)

    compiled = ag.compile(of, error_control="derivatives", static="self")


def test_methods_and_pickles_keep_the_choice():
    model = Model()
    value = ag.compile(model.of, error_control="derivatives")(AT)
    assert model.compiled(AT) == value != model.of(AT)
    stored = pickle.loads(pickle.dumps(Model.compiled))
    assert stored.error_control == "derivatives"
    copied = pickle.loads(pickle.dumps(ag.compile(by_rodas, error_control="derivatives")))
    assert copied.error_control == "derivatives"
    assert copied(AT) == value


def by_rodas(p):
    return by_argument(p, method="Rodas4", rtol=1e-3)


def test_other_methods_do_not_mind():
    """The states are compared, because NumPy's logarithm of them rounds differently than a program's."""

    def of(p):
        return ag.solve_ivp(slope, (0.0, 20.0), [30.0, 4.0], "BDF", TIMES, args=(p,), rtol=1e-6).y

    np.testing.assert_array_equal(ag.compile(of, error_control="derivatives")(AT), of(AT))


def test_an_unknown_choice_is_refused():
    known = "'auto', 'states', 'derivatives'"
    with pytest.raises(ValueError, match=f"compile: error_control is 'steps', but must be one of {known}"):
        ag.compile(by_argument, error_control="steps")
