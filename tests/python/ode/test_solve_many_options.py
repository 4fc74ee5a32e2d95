"""solve_many with events, stops, linear algebra, sensitivities and partial results: against a loop of solve_ivp."""

import numpy as np
import pytest

import agrad as ag
from agrad import Subject

TIGHT = {"rtol": 1e-9, "atol": 1e-9}
X = np.array([0.8, 1.3, 0.4])


def slope(t, y, rate, on):
    return [-rate * y[0] + np.sin(t), y[0] + np.where(t < on, 0.0, 1.0)]


def refill(fires="condition"):
    return ag.Event(
        lambda t, y, rate, on: 0.5 * rate - y[0], lambda t, y, rate, on: [y[0] + 1.0 + rate, y[1] * t], direction=1, fires=fires
    )


def subjects_of(x):
    doses = [ag.Dose(x[2], 0, x[1])]
    return [
        Subject((0.0, 3.0), [x[1], 0.0], [1.0, 2.0, 2.0, 3.0], (x[0], x[2])),
        Subject((0.0, 4.0), [2 * x[1], 0.0], None, (x[0] * x[2], 1.0), doses),
        Subject((0.0, 2.0), [x[1] + 3.0, 0.0], [0.0, 2.0], (x[0], x[2]), tstops=[0.3]),
        Subject((3.0, 0.5), [x[1], 0.0], None, (x[0], x[2])),
    ]


def numbers(results):
    parts = [np.ravel(result.y) for result in results]
    parts += [np.ravel(part) for result in results if result.t_events for part in (*result.t_events, *result.y_events)]
    return np.concatenate(parts)


def by_loop(x, method, **options):
    results = []
    for each in subjects_of(x):
        stops = {"tstops": each.tstops} if len(each.tstops) else {}
        results.append(
            ag.solve_ivp(
                slope, each.t_span, each.y0, method, each.t_eval, args=each.args, doses=each.doses, **stops, **options, **TIGHT
            )
        )
    return numbers(results)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF", "auto"])
@pytest.mark.parametrize("transform", [lambda f: f, ag.jacobian, ag.jacfwd, lambda f: ag.compile(ag.jacobian(f))])
def test_events_equal_a_loop(method, transform):
    events = [refill(), lambda t, y, rate, on: y[1] - 1.0]
    many = transform(lambda x: numbers(ag.solve_many(slope, subjects_of(x), method, events=events, **TIGHT)))
    loop = transform(lambda x: by_loop(x, method, events=events))
    tolerance = 1e-5 if method == "BDF" else 1e-10
    np.testing.assert_allclose(many(X), loop(X), rtol=tolerance, atol=tolerance)


def test_second_derivatives_through_events_equal_a_loop():
    hessians = [
        ag.hessian(lambda x, f=f: np.sum(f(x) ** 2))(X)
        for f in (
            lambda x: numbers(ag.solve_many(slope, subjects_of(x), "Tsit5", events=refill(), **TIGHT)),
            lambda x: by_loop(x, "Tsit5", events=refill()),
        )
    ]
    np.testing.assert_allclose(*hessians, rtol=1e-9, atol=1e-8)


def test_terminal_events_and_events_that_did_not_happen():
    end = ag.Event(lambda t, y: y[0] - 2.0, terminal=True)
    subjects = [Subject((0.0, 3.0), [start], [1.0, 3.0]) for start in (1.0, -4.0)]
    first, second = ag.solve_many(lambda t, y: 1.0 + 0 * y, subjects, events=end)
    assert (first.status, second.status) == (1, 0)
    np.testing.assert_allclose(first.t_events[0], [1.0], rtol=1e-6)
    assert second.y.shape == (1, 2)
    with pytest.raises(IndexError, match=r"solve_many\(subjects\[1\]\): events\[0\] did not happen from t = 0.0 to t = 3.0"):
        second.t_events[0][0]


def test_stops_have_derivatives():
    f = lambda t, y, on: np.where(t < on, 0.0, -1.0) * y  # noqa: E731

    def total(x):
        subjects = [Subject((0.0, 2.0), [1.0], [2.0], (x,), tstops=[x]), Subject((0.0, 2.0), [1.0], [2.0], (2 * x,))]
        return [r.y[0, 0] for r in ag.solve_many(f, subjects, "Tsit5", tstops=[2 * x], **TIGHT)]

    assert ag.grad(lambda x: sum(total(x)))(0.4) == pytest.approx(np.exp(-1.6) + 2 * np.exp(-1.2), rel=1e-7)


@pytest.mark.parametrize("sensitivities", ["forward", "simultaneous", "auto"])
def test_forward_sensitivities_equal_a_loop(sensitivities):
    f = lambda t, y, k: [-k * y[0], k * y[0] - y[1]]  # noqa: E731
    options = {"method": "BDF", "sensitivities": sensitivities, **TIGHT}

    def many(x):
        subjects = [Subject((0.0, end), [x[1], 0.0], [end], (x[0],)) for end in (1.0, 2.0)]
        return np.concatenate([r.y[:, 0] for r in ag.solve_many(f, subjects, **options)])

    def loop(x):
        ends = [ag.solve_ivp(f, (0.0, end), [x[1], 0.0], t_eval=[end], args=(x[0],), **options).y[:, 0] for end in (1.0, 2.0)]
        return np.concatenate(ends)

    for jacobian in (ag.jacobian, lambda f: ag.compile(ag.jacobian(f))):
        np.testing.assert_allclose(jacobian(many)(X), jacobian(loop)(X), rtol=1e-6, atol=1e-8)


def test_forward_sensitivities_do_not_find_switches():
    f = lambda t, y, k: np.where(y > 0.5, -k, -2 * k) * y  # noqa: E731
    with pytest.raises(ValueError, match=r"solve_many\(subjects\[0\]\): forward sensitivities are given, but must not be"):
        ag.grad(
            lambda k: ag.solve_many(f, [Subject((0.0, 2.0), [1.0], None, (k,))], "BDF", sensitivities="forward")[0].y[0, -1]
        )(1.0)


@pytest.mark.parametrize("solver", ["dense", "sparse", "banded"])
def test_linear_solvers_agree(solver):
    subjects = [Subject((0.0, 1.0), np.linspace(1.0, 2.0, 12), [1.0])]
    f = lambda t, y: 50 * (np.concatenate([y[1:], y[:1] * 0]) - y)  # noqa: E731
    given = ag.solve_many(f, subjects, "Rodas5P", linear_solver=solver, **TIGHT)[0].y
    np.testing.assert_allclose(given, ag.solve_many(f, subjects, "Rodas5P", **TIGHT)[0].y, rtol=1e-9, atol=1e-12)
    if solver == "banded":
        same = ag.solve_many(f, subjects, "Rodas5P", linear_solver=solver, jac_sparsity=(0, 1), **TIGHT)[0].y
        np.testing.assert_array_equal(same, given)


@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
@pytest.mark.parametrize("has_events", [False, True])
def test_a_failing_subject_loses_nothing(method, has_events):
    def solved(x, partial=True):
        subjects = [Subject((0.0, 3.0), [y0 * x], [0.0, 0.5, 1.5, 3.0]) for y0 in (0.1, 1.0, 0.2)]
        events = {"events": lambda t, y: y[0] - 0.15} if has_events else {}
        return ag.solve_many(lambda t, y: y**2, subjects, method, return_partial=partial, rtol=1e-8, atol=1e-10, **events)

    with pytest.raises(ag.SolverError):
        solved(1.0, partial=False)
    results = solved(1.0)
    assert [result.success for result in results] == [True, False, True]
    assert [result.t.tolist() for result in results] == [[0.0, 0.5, 1.5, 3.0], [0.0, 0.5], [0.0, 0.5, 1.5, 3.0]]
    assert results[1].status == -1
    assert "solve_many(subjects[1]): stopped at t = " in results[1].message
    gradient = ag.grad(lambda x: sum(np.sum(result.y) for result in solved(x)))(1.0)
    expected = sum(np.sum(y0 / (1 - y0 * r.t) ** 2) for y0, r in zip((0.1, 1.0, 0.2), results, strict=True))
    assert gradient == pytest.approx(expected, rel=1e-5)


def test_a_subject_that_fails_without_output_times():
    subjects = [Subject((0.0, 3.0), [y0]) for y0 in (0.1, 1.0)]
    good, bad = ag.solve_many(lambda t, y: y**2, subjects, "Tsit5", return_partial=True)
    assert good.success
    assert not bad.success
    assert bad.t[-1] == pytest.approx(1.0, abs=0.05)
    early = [Subject((0.0, 3.0), [1.0], [2.0]), Subject((0.0, 3.0), [0.1], [2.0])]
    bad, good = ag.solve_many(lambda t, y: y**2, early, "Tsit5", return_partial=True)
    assert good.success
    assert bad.y.shape == (1, 0)
    assert bad.status == -1


def test_messages():
    subjects = [Subject((0.0, 1.0), [1.0])]
    f = lambda t, y: -y  # noqa: E731
    with pytest.raises(ValueError, match="sensitivities is 'forward', but must be 'adjoint' where there are events"):
        ag.solve_many(f, subjects, "BDF", sensitivities="forward", events=lambda t, y: y[0])
    with pytest.raises(ValueError, match="linear_solver"):
        ag.solve_many(f, subjects, "Tsit5", linear_solver="dense")
    with pytest.raises(ag.ShapeError, match=r"jac_sparsity is of shape \(2, 2\), but must be of shape \(1, 1\)"):
        ag.solve_many(f, subjects, "BDF", jac_sparsity=np.ones((2, 2)))
    with pytest.raises(TypeError, match=r"solve_many: events\[0\] is 3, but must be callable"):
        ag.solve_many(f, subjects, events=[3])
    with pytest.raises(ag.ShapeError, match=r"solve_many\(subjects\[0\]\): tstops is of shape"):
        ag.solve_many(f, [Subject((0.0, 1.0), [1.0], tstops=np.ones((2, 2)))])
