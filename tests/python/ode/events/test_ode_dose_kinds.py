"""Doses that set or scale states, and outputs before doses: values and derivatives against closed forms."""

import pickle
from functools import partial

import numpy as np
import pytest

import agrad as ag
from event_cases import METHODS, TIGHT

every_method = pytest.mark.parametrize("method", [*METHODS, "BDF", "Adams"])
X = np.array([2.0, 0.7, 0.5, 1.3, 1.0, 1.8, 1.6, 0.4, 2.1, 0.6, 3.0])


def solved(x, method):
    """An amount and the area under it: both are scaled and set at times that move; outputs before and after the second set."""
    start, k, at_scale, factor, at_set, level, at_area, area, at_part, part, end = x
    doses = [
        ag.Dose(at_part, 1, part, kind="scale"),
        ag.Dose(at_area, 1, area, kind="set"),
        ag.Dose(at_set, 0, level, kind="set"),
        ag.Dose(at_scale, 0, factor, kind="scale"),
    ]
    times, before = np.stack([at_area, end]), [True, False]
    slope = lambda t, y, k: [-k * y[0], y[0]]  # noqa: E731
    options = {"before": before, "args": (k,), "doses": doses, **TIGHT}
    y = ag.solve_ivp(slope, (0.0, 4.0), [start, 0.0], method, times, **options).y
    return np.stack([y[0, 0], y[1, 0], y[0, 1], y[1, 1]])


def closed(x):
    start, k, at_scale, factor, at_set, level, at_area, area, at_part, part, end = x

    def under(height, time):
        return height * (1 - np.exp(-k * time)) / k

    scaled = factor * start * np.exp(-k * at_scale)
    trough = under(start, at_scale) + under(scaled, at_set - at_scale) + under(level, at_area - at_set)
    after = [level * np.exp(-k * (t - at_set)) for t in (at_area, at_part, end)]
    last = part * (area + under(after[0], at_part - at_area)) + under(after[1], end - at_part)
    return np.stack([after[0], trough, after[2], last])


@every_method
def test_doses_that_set_and_scale_have_the_closed_form(method):
    accuracy = 1e-6 if method in ("BDF", "Adams") else 1e-8
    f = lambda x: solved(x, method)  # noqa: E731
    np.testing.assert_allclose(f(X), closed(X), rtol=accuracy)
    expected = ag.jacobian(closed)(X)
    for jacobian in (ag.jacobian, ag.jacfwd, lambda f: ag.compile(ag.jacobian(f))):
        np.testing.assert_allclose(jacobian(f)(X), expected, rtol=10 * accuracy, atol=10 * accuracy)


@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives_pass_through_doses_that_set_and_scale(method):
    for i in range(4):
        hessian = ag.hessian(lambda x, i=i: solved(x, method)[i])(X)
        np.testing.assert_allclose(hessian, ag.hessian(lambda x, i=i: closed(x)[i])(X), rtol=1e-6, atol=1e-6)


@every_method
def test_a_compiled_solve_has_other_doses(method):
    f = ag.compile(lambda x: solved(x, method))
    f(X)
    other = X * np.linspace(0.99, 1.02, X.size)
    np.testing.assert_allclose(f(other), closed(other), rtol=1e-6)


@every_method
def test_a_time_is_an_output_before_and_after_its_dose(method):
    def troughs(k):
        doses = [ag.Dose(0.0, 0, 100.0, interval=12.0, count=3)]
        times, before = [0.0, 0.0, 12.0, 12.0, 18.0, 24.0], [True, False, True, False, True, True]
        return ag.solve_ivp(
            lambda t, y, k: -k * y, (0.0, 24.0), [0.0], method, times, before=before, args=(k,), doses=doses, **TIGHT
        ).y[0]

    def closed(k):
        once = 100 * np.exp(-12 * k)
        second = (once + 100) * np.exp(-6 * k)
        return np.stack([0 * k, 100 + 0 * k, once, once + 100, second, second * np.exp(-6 * k)])

    np.testing.assert_allclose(troughs(0.1), closed(0.1), rtol=1e-6)
    assert troughs(0.1)[2] == pytest.approx(30.12, rel=1e-3)
    np.testing.assert_allclose(ag.jacfwd(troughs)(0.1), ag.jacfwd(closed)(0.1), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(ag.jacobian(troughs)(0.1), ag.jacfwd(closed)(0.1), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("times", [[1.0, 2.0], [1.0, 1.0, 2.0]])
def test_all_outputs_are_before_doses(times):
    y = ag.solve_ivp(
        lambda t, y: 0 * y, (0.0, 2.0), [1.0], "Tsit5", times, before=True, doses=[ag.Dose(t, 0, t) for t in times]
    ).y
    np.testing.assert_array_equal(y[0], [1.0, 1.0, 2.0 if len(times) == 2 else 3.0][-len(times) :])


def test_without_doses_there_is_nothing_before():
    times = [0.5, 0.5, 1.0]
    plain = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], "Tsit5", times)
    before = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], "Tsit5", times, before=[True, False, True])
    np.testing.assert_array_equal(plain.y, before.y)


def test_outputs_before_doses_end_with_the_solution():
    end = ag.Event(lambda t, y: t - 1.5, terminal=True)
    doses = [ag.Dose(t, 0, 1.0) for t in (1.0, 2.0)]
    result = ag.solve_ivp(
        lambda t, y: 0 * y, (0.0, 3.0), [1.0], "Tsit5", [1.0, 1.0, 2.0], before=[True, False, True], doses=doses, events=end
    )
    np.testing.assert_array_equal(result.t, [1.0, 1.0])
    np.testing.assert_array_equal(result.y, [[1.0, 2.0]])


def test_all_states_are_set_at_a_time():
    def last(x):
        doses = [ag.Dose(x[0], range(3), [0.0, x[1], 2.0], kind="set")]
        return ag.solve_ivp(lambda t, y: [1.0, 2 * t, 3.0 + 0 * t], (0.0, 3.0), np.ones(3), "Tsit5", [3.0], doses=doses).y[:, 0]

    x = np.array([1.2, 0.3])
    np.testing.assert_allclose(last(x), [3 - 1.2, 0.3 + 9 - 1.44, 2 + 3 * 1.8], rtol=1e-7)
    np.testing.assert_allclose(ag.jacobian(last)(x), [[-1, 0], [-2.4, 1], [-3, 0]], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("dose", "error", "message"),
    [
        (
            ag.Dose(1.0, 0, 1.0, 0.5, kind="set"),
            ag.DomainError,
            "doses.0..duration is given, but must not be where kind",
        ),
        (
            ag.Dose(1.0, 0, 1.0, kind="replace"),
            ValueError,
            "doses.0..kind is 'replace', but must be one of",
        ),
        (ag.Dose(1.0, (0, 1), 1.0), ag.DomainError, "doses.1..state is 1"),
        (
            ag.Dose(1.0, (0, 0), [1.0, 2.0, 3.0]),
            ag.ShapeError,
            "doses.0..amount is of shape .3,., but must be",
        ),
    ],
)
def test_wrong_kinds_of_doses_are_named(dose, error, message):
    with pytest.raises(error, match=message):
        ag.solve_ivp(lambda t, y: -y, (0.0, 2.0), [1.0], "Tsit5", doses=[dose])


@pytest.mark.parametrize(("before", "error"), [([True], ag.ShapeError), (1, TypeError), ([0.5, 1.0], TypeError)])
def test_wrong_masks_are_named(before, error):
    with pytest.raises(error, match="solve_ivp: before is"):
        ag.solve_ivp(lambda t, y: -y, (0.0, 2.0), [1.0], "Tsit5", [1.0, 2.0], before=before, doses=[ag.Dose(1.0, 0, 1.0)])


@every_method
def test_subjects_have_all_kinds_of_doses_and_outputs_before_them(method):
    def subject(x):
        start, k, at_scale, factor, at_set, level, at_area, area, at_part, part, end = x
        doses = [
            ag.Dose(at_scale, 0, factor, kind="scale"),
            ag.Dose(at_set, 0, level, kind="set"),
            ag.Dose(at_area, 1, area, kind="set"),
            ag.Dose(at_part, 1, part, kind="scale"),
        ]
        times = np.stack([at_area, end])
        return ag.Subject((0.0, 4.0), [start, 0.0], times, (k,), doses, before=[True, False])

    def both(x):
        slope = lambda t, y, k: [-k * y[0], y[0]]  # noqa: E731
        results = ag.solve_many(slope, [subject(x), subject(1.01 * x)], method, **TIGHT)
        return np.concatenate([np.ravel(np.transpose(result.y)) for result in results])

    def expected(x):
        return np.concatenate([closed(x), closed(1.01 * x)])

    accuracy = 1e-6 if method in ("BDF", "Adams") else 1e-8
    np.testing.assert_allclose(both(X), expected(X), rtol=accuracy)
    jacobian = ag.jacobian(expected)(X)
    for of in (ag.jacobian, ag.jacfwd, lambda f: ag.compile(ag.jacobian(f))):
        np.testing.assert_allclose(of(both)(X), jacobian, rtol=10 * accuracy, atol=10 * accuracy)
    if method in METHODS:
        total = lambda f: lambda x: np.sum(f(x) ** 2)  # noqa: E731
        np.testing.assert_allclose(ag.hessian(total(both))(X), ag.hessian(total(expected))(X), rtol=1e-6, atol=1e-5)


def test_a_subject_has_troughs_at_repeated_times():
    doses = [ag.Dose(0.0, 0, 100.0, interval=12.0, count=2)]
    times, before = [0.0, 0.0, 12.0, 12.0], [True, False, True, False]
    subjects = [ag.Subject((0.0, 24.0), [0.0], times, (), doses, before), ag.Subject((0.0, 24.0), [1.0], times, before=before)]
    first, second = ag.solve_many(lambda t, y: -0.1 * y, subjects, "Tsit5", **TIGHT)
    once = 100 * np.exp(-1.2)
    np.testing.assert_allclose(first.y, [[0.0, 100.0, once, once + 100]], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(second.y, [[1.0, 1.0, np.exp(-1.2), np.exp(-1.2)]], rtol=1e-8)


def test_a_pickled_solve_keeps_the_kinds_of_its_doses_and_its_outputs_before_them():
    f = ag.compile(partial(solved, method="Tsit5"))
    value = f(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(X), value)
