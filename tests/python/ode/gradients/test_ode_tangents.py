"""Forward mode through BDF and Adams: closed forms, differences of tight solves, one-step methods; what is refused."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams"]
SENSITIVITIES = ["adjoint", "forward", "simultaneous", "auto"]
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
every_kind = pytest.mark.parametrize("kind", SENSITIVITIES)
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def decay(t, y, k):
    return -k * y


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1] + 0.1 * np.sin(t), p[2] * y[0] * y[1] - p[3] * y[1]]


P, Y0, TIMES = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0]), np.array([1.0, 3.0, 6.0])


def hunted(p, y0, t0=0.0, times=TIMES, method="BDF", **options):
    return ag.solve_ivp(predation, (t0, 7.0), y0, method, times, args=(p,), **{**TIGHT, **options}).y


def central(f, x, v, step=1e-4):
    """The derivative along v, of order 4."""
    near, far = (f(x + c * v) - f(x - c * v) for c in (step, 2 * step))
    return (8 * near - far) / (12 * step)


# ---- with respect to everything ----------------------------------------------------------------------------------------


@every_kind
@every_method
def test_every_argument_has_its_closed_form(method, kind, made):
    """The solution is y0 exp(-k (t - t0))."""

    def end(y0, k, t0, t1):
        return ag.solve_ivp(decay, (t0, t1), [y0], method, args=(k,), sensitivities=kind, **TIGHT).y[0, -1]

    x, y = (2.0, 0.7, 0.3, 1.8), 2.0 * np.exp(-0.7 * 1.5)
    expected = np.array([y / 2.0, -1.5 * y, 0.7 * y, -0.7 * y])
    for i, each in enumerate(expected):
        v = tuple(float(i == j) for j in range(4))
        value, tangent = made(lambda *x, v=v: ag.jvp(end, x, v))(*x)
        np.testing.assert_allclose([value, tangent], [y, each], rtol=1e-7)
        np.testing.assert_allclose(made(ag.jacfwd(end, argnums=i))(*x), each, rtol=1e-7)
    together = (0.3, -1.0, 2.0, 0.5)
    np.testing.assert_allclose(ag.jvp(end, x, together)[1], expected @ together, rtol=1e-7)


@every_kind
@every_method
def test_only_the_initial_time_moves(method, kind):
    """The one sensitivity that there is then is along -f."""
    f = lambda t0: hunted(P, Y0, t0, method=method, sensitivities=kind)  # noqa: E731
    np.testing.assert_allclose(ag.jvp(f, (0.5,), (2.0,))[1], central(f, 0.5, 2.0), rtol=1e-6)


@every_kind
@every_method
def test_along_several_directions_at_once(method, kind, made):
    """Eight and two of them."""
    x = np.concatenate([P, Y0, [0.2], TIMES])

    def f(x, method=method, **options):
        return hunted(x[:4], x[4:6], x[6], x[7:], method, **options)

    by_kind = lambda x: f(x, sensitivities=kind)  # noqa: E731
    by_dop853 = lambda x: f(x, "DOP853", rtol=1e-13)  # noqa: E731
    rows = made(ag.jacfwd(by_kind))(x)
    sizes = 0.1 * np.maximum(1.0, np.abs(x))
    expected = np.stack([central(by_dop853, x, v) for v in np.diag(sizes)]) / sizes[:, None, None]
    scale = np.abs(rows).max(axis=(0, 1))
    np.testing.assert_allclose(rows / scale, np.moveaxis(expected, 0, 2) / scale, atol=1e-6)
    for other in (ag.jacfwd(by_dop853)(x), ag.jacrev(by_kind)(x)):
        np.testing.assert_allclose(rows / scale, other / scale, atol=1e-7)
    v = np.linspace(-1.0, 1.0, 10) * np.abs(x)
    np.testing.assert_allclose(ag.jvp(by_kind, (x,), (v,))[1], rows @ v, rtol=1e-6)


@every_method
def test_sensitivities_that_are_there_are_multiplied(method):
    """Forward mode and reverse mode are products with the same sensitivities."""
    f = lambda p: hunted(p, Y0 * p[0], method=method, sensitivities="forward", rtol=1e-4)  # noqa: E731
    np.testing.assert_allclose(ag.jacfwd(f)(P), ag.jacrev(f)(P), rtol=1e-11)


def test_outputs_at_the_initial_time_and_repeated_ones():
    def f(t0):
        times = np.array([0.0, 0.0, 1.0, 1.0]) + t0
        return ag.solve_ivp(decay, (t0, 2.0), [3.0], "BDF", times, args=(0.7,), **TIGHT).y[0]

    np.testing.assert_allclose(ag.jvp(f, (0.5,), (1.0,))[1], 0.0, atol=1e-8)  # the times move along


def test_back_in_time():
    f = lambda k, t: ag.solve_ivp(decay, (2.0, t), [1.0], "BDF", args=(k,), **TIGHT).y[0, -1]  # noqa: E731
    y = np.exp(0.7 * 1.5)
    np.testing.assert_allclose(ag.jvp(f, (0.7, 0.5), (1.0, 0.0))[1], 1.5 * y, rtol=1e-7)
    np.testing.assert_allclose(ag.jvp(f, (0.7, 0.5), (0.0, 1.0))[1], -0.7 * y, rtol=1e-7)


@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas4", "auto"])
def test_one_step_methods_have_tangents_with_respect_to_times(method, made):
    def f(x):
        return hunted(P * x[0], Y0, x[1], x[2:], method, rtol=1e-6)

    x = np.array([1.0, 0.2, *TIMES])
    np.testing.assert_allclose(made(ag.jacfwd(f))(x), ag.jacrev(f)(x), rtol=1e-8, atol=1e-10)


# ---- accuracy ----------------------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_tolerances_are_those_of_the_states(method, rtol):
    tight = ag.jacfwd(lambda p: hunted(p, Y0, method="DOP853", rtol=1e-12))(P) * P
    loose = ag.jacfwd(lambda p: hunted(p, Y0, method=method, rtol=rtol, atol=rtol))(P) * P
    assert np.abs(loose - tight).max() < 300 * rtol * np.abs(tight).max()
    assert np.abs(loose - tight).max() > 0


@every_kind
@every_method
def test_at_rest_tangents_are_under_control(method, kind):
    """The states alone would let steps be as long as the interval."""
    f = lambda y0: ag.solve_ivp(lambda t, y: y * (1 - y), (0.0, 10.0), [y0], method, sensitivities=kind).y[0, -1]  # noqa: E731
    np.testing.assert_allclose(ag.jvp(f, (0.0,), (1.0,))[1], np.exp(10.0), rtol=1e-4)


@every_kind
def test_stiff_kinetics(kind):
    def robertson(t, y, k):
        slow, fast = -k[0] * y[0] + k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [slow, -slow - fast, fast]

    def f(k, tolerance=1e-8, kind=kind):
        options = {"rtol": tolerance, "atol": tolerance * np.array([1e-2, 1e-6, 1e-2]), "sensitivities": kind}
        return ag.solve_ivp(robertson, (0.0, 400.0), [1.0, 0.0, 0.0], "BDF", [0.4, 400.0], args=(k,), **options).y

    k = np.array([0.04, 1e4, 3e7])
    scaled, true = ag.jacfwd(f)(k) * k, ag.jacrev(lambda k: f(k, 1e-10, "forward"))(k) * k
    size = np.abs(true).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(scaled / size, true / size, atol=3e-6)


def test_a_tangent_is_linear_in_its_direction():
    f = lambda p: hunted(p, Y0, rtol=1e-5)  # noqa: E731
    v = np.array([1.0, 0.0, -0.5, 0.25])
    once = ag.jvp(f, (P,), (v,))[1]
    for factor in (2.0, -0.5, 2.0**-200, 2.0**300):
        np.testing.assert_array_equal(ag.jvp(f, (P,), (factor * v,))[1], factor * once)
    np.testing.assert_array_equal(ag.jvp(f, (P,), (0 * v,))[1], np.zeros((2, 3)))


def test_a_direction_that_is_not_finite():
    f = lambda p: hunted(p, Y0)  # noqa: E731
    tangent = ag.jvp(f, (P,), (np.array([np.nan, 0, 0, 0]),))[1]
    assert np.isnan(tangent).all()
    assert np.isfinite(ag.jvp(f, (P,), (np.ones(4),))[1]).all()


def test_a_right_hand_side_without_forward_mode():
    @ag.custom_vjp
    def rate(k, y):
        return k * y

    rate.defvjp(lambda k, y: (k * y, (k, y)), lambda kept, c: (np.sum(kept[1] * c), kept[0] * c))
    f = lambda k: ag.solve_ivp(lambda t, y: -rate(k, y), (0.0, 2.0), [1.0, 2.0], "BDF", **TIGHT).y[:, -1]  # noqa: E731
    np.testing.assert_allclose(ag.jvp(f, (0.7,), (1.0,))[1], -2 * np.array([1.0, 2.0]) * np.exp(-1.4), rtol=1e-7)


@every_method
def test_max_step_holds_for_tangents(method):
    def slope(t, y, k):
        return -k * y * np.exp(-0.5 * ((t - 50.0) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))

    def end(k, **options):
        return ag.solve_ivp(slope, (0.0, 100.0), [1.0], method, args=(k,), rtol=1e-8, atol=1e-10, **options).y[0, -1]

    np.testing.assert_allclose(ag.jvp(lambda k: end(k, max_step=0.2), (0.5,), (1.0,))[1], -np.exp(-0.5), rtol=1e-5)


# ---- doses, events, populations, solves in solves ----------------------------------------------------------------------


def dosed(x, method="BDF", **options):
    doses = [ag.Dose(x[0], 0, x[1]), ag.Dose(x[2], 0, x[3], x[4]), ag.Dose(2.5, 0, 0.1)]
    times = np.array([0.2, 1.0, 2.0, 3.0])
    return ag.solve_ivp(decay, (0.0, 3.0), [1.0], method, times, args=(x[5],), doses=doses, **TIGHT, **options).y[0]


@every_kind
@every_method
def test_doses(method, kind, made):
    x = np.array([0.5, 2.0, 1.2, 3.0, 0.9, 0.7])
    rows = made(ag.jacfwd(lambda x: dosed(x, method, sensitivities=kind)))(x)
    np.testing.assert_allclose(rows, ag.jacfwd(lambda x: dosed(x, "DOP853"))(x), rtol=1e-6, atol=1e-8)
    v = np.array([0.1, -1.0, 0.3, 0.5, -0.2, 1.0])
    np.testing.assert_allclose(rows @ v, central(lambda x: dosed(x, "DOP853"), x, v), rtol=1e-6, atol=1e-8)


def bounces(x, method):
    floor = ag.Event(lambda t, y, r: y[0], reset=lambda t, y, r: [0.0, -r * y[1]], direction=-1)
    fall = lambda t, y, r: [y[1], -9.81]  # noqa: E731
    ball = ag.solve_ivp(fall, (0.0, 3.0), [x[1], 0.0], method, [1.0, 3.0], args=(x[0],), events=floor, **TIGHT)
    return np.concatenate([ball.t_events[0], np.ravel(ball.y)])


@every_method
def test_events(method, made):
    x = np.array([0.8, 2.0])
    rows = made(ag.jacfwd(lambda x: bounces(x, method)))(x)
    np.testing.assert_allclose(rows, ag.jacfwd(lambda x: bounces(x, "DOP853"))(x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(rows[0], [0.0, 0.5 * np.sqrt(2 / (9.81 * 2.0))], atol=1e-7)  # sqrt(2 h / g)


@every_method
def test_a_terminal_event(method):
    low = ag.Event(lambda t, y, k: y[0] - 0.5, terminal=True)
    f = lambda k: ag.solve_ivp(decay, (0.0, 9.0), [1.0], method, args=(k,), events=low, **TIGHT).t[-1]  # noqa: E731
    np.testing.assert_allclose(ag.jvp(f, (0.7,), (1.0,))[1], -np.log(2) / 0.49, rtol=1e-7)


@every_method
def test_populations(method, made):
    def f(x):
        ill = ag.Subject((0.0, 2.0), [1.0], [2.0], (x[0],), doses=[ag.Dose(x[1], 0, x[2], 0.5)])
        well = ag.Subject((0.0, 2.0), [x[2]], [1.0, 2.0], (x[0],))
        return np.concatenate([each.y[0] for each in ag.solve_many(decay, [ill, well], method, **TIGHT)])

    x = np.array([0.5, 0.7, 2.0])
    np.testing.assert_allclose(made(ag.jacfwd(f))(x), ag.jacrev(f)(x), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("outer", ["BDF", "Tsit5"])
@pytest.mark.parametrize("inner", ["BDF", "Tsit5"])
def test_a_solve_inside_of_a_right_hand_side(outer, inner, made):
    def f(k):
        rate = lambda y: ag.solve_ivp(decay, (0.0, 1.0), [1.0], inner, args=(k * y,), **TIGHT).y[0, -1]  # noqa: E731
        return ag.solve_ivp(lambda t, y: [-y[0] * rate(y[0])], (0.0, 1.0), [1.0], outer, rtol=1e-8, atol=1e-8).y[0, -1]

    closed = lambda k: ag.solve_ivp(lambda t, y: -y * np.exp(-k * y), (0.0, 1.0), [1.0], "DOP853", **TIGHT).y[0, -1]  # noqa: E731
    np.testing.assert_allclose(made(lambda k: ag.jvp(f, (k,), (1.0,))[1])(0.8), ag.grad(closed)(0.8), rtol=1e-5)


def test_a_gradient_check_beside():
    f = lambda p: np.sum(hunted(p, Y0, gradient_check=True))  # noqa: E731
    np.testing.assert_allclose(ag.jvp(f, (P,), (P,))[1], ag.grad(f)(P) @ P, rtol=1e-6)


def test_check_grads_allows_for_tolerances():
    ag.check_grads(lambda p: hunted(p, Y0, rtol=1e-9), P, rtol=1e-4, order=1)
    ag.check_grads(lambda p: hunted(p, Y0, sensitivities="forward"), P, rtol=1e-4, order=1)


# ---- what a run leaves, and what it costs ------------------------------------------------------------------------------


def test_a_system_of_the_same_size_after_another():
    """Solvers are kept from solve to solve."""
    for f, by in ((decay, -2.0), (lambda t, y, k: k * y, 2.0), (decay, -2.0)):
        end = lambda k, f=f: ag.solve_ivp(f, (0.0, 2.0), [1.0], "BDF", args=(k,), **TIGHT).y[0, -1]  # noqa: E731
        np.testing.assert_allclose(ag.jvp(end, (0.7,), (1.0,))[1], by * np.exp(by * 0.7), rtol=1e-7)


def test_one_compiled_function_in_both_modes():
    f = ag.compile(lambda p: np.sum(hunted(p, Y0)))
    for _ in range(2):
        for scale in (1.0, 1.05):
            _, pullback = ag.vjp(f, P * scale)
            along = ag.jvp(f, (P * scale,), (P,))[1]
            np.testing.assert_allclose(along, pullback(1.0)[0] @ P, rtol=1e-7)


def test_statistics_count_sensitivities():
    results = []

    def f(k):
        results.append(ag.solve_ivp(decay, (0.0, 2.0), [1.0], "BDF", args=(k,)))
        return results[-1].y

    ag.jvp(f, (0.7,), (1.0,))
    assert results[-1].stats["sensitivities"]["rhs_evaluations"] > 0
    results.clear()
    ag.compile(ag.jacobian(f))(0.7)  # adjoints were chosen
    assert results[-1].stats["backward"]["steps"] > 0
    assert results[-1].stats["sensitivities"]["rhs_evaluations"] == 0


@pytest.mark.parametrize(("method", "is_forward"), [("Tsit5", True), ("BDF", False)])
def test_a_jacobian_of_a_population_goes_forward_where_both_modes_agree(method, is_forward):
    """Four outputs of two inputs, of which a dose's time leaves first derivatives only."""
    results = []

    def f(x):
        subject = ag.Subject((0.0, 2.0), [1.0], [0.5, 1.0, 1.5, 2.0], (x[0],), doses=[ag.Dose(x[1], 0, 2.0)])
        results.append(ag.solve_many(decay, [subject], method, **TIGHT)[0])
        return results[-1].y[0]

    x = np.array([0.5, 0.7])
    chosen = ag.compile(ag.jacobian(f))(x)
    np.testing.assert_allclose(chosen, ag.jacfwd(f)(x), rtol=1e-7, atol=1e-9)
    assert (results[0].stats["backward"]["steps"] == 0) == is_forward


def test_where_the_tangents_stop():
    """The root has no derivative at 0: the states could go on."""
    f = lambda k: ag.solve_ivp(lambda t, y, k: np.sqrt(k) - y, (0.0, 1.0), [1.0], "BDF", args=(k,)).y[0, -1]  # noqa: E731
    assert np.isfinite(f(0.0))
    with pytest.raises(ag.SolverError, match="solve_ivp: the sensitivities stopped at t = 0 after 0 steps") as caught:
        ag.jvp(f, (0.0,), (1.0,))
    assert caught.value.code == "CV_FIRST_SRHSFUNC_ERR"
    assert np.isfinite(ag.jvp(f, (1.0,), (1.0,))[1])


SECOND = {
    "hessian": ag.hessian,
    "hvp": lambda f: lambda x: ag.hvp(f)(x, x),
    "jacfwd of grad": lambda f: ag.jacfwd(ag.grad(f)),
    "grad of jvp": lambda f: ag.grad(lambda x: ag.jvp(f, (x,), (1.0,))[1]),
    "jvp of jvp": lambda f: lambda x: ag.jvp(lambda x: ag.jvp(f, (x,), (1.0,))[1], (x,), (1.0,)),
}


@every_kind
@every_method
@pytest.mark.parametrize("transformation", list(SECOND))
def test_second_derivatives_are_refused_by_name(transformation, method, kind, made):
    f = lambda k: ag.solve_ivp(decay, (0.0, 2.0), [1.0], method, args=(k,), sensitivities=kind).y[0, -1]  # noqa: E731
    with pytest.raises(NotImplementedError, match=r"solve_ivp(:| has (first )?derivatives)"):
        made(SECOND[transformation](f))(0.7)
