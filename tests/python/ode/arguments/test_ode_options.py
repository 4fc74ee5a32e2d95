"""What tunes the adjoint solver: parameters and defaults, tolerances, methods, interpolation, checkpoints."""

import inspect
import itertools

import numpy as np
import pytest

import agrad as ag

TIMES = np.array([0.5, 2.0, 6.0])
METHODS = {"Adams": 1, "BDF": 2}
INTERPOLATIONS = {"Hermite": 1, "polynomial": 2}


def solve_with(f, y0, t0, times, *args, **changes):
    """ode_adjoint_tol_ctl with options by name."""
    options = {
        "relative_tolerance_forward": 1e-9,
        "absolute_tolerance_forward": 1e-11,
        "relative_tolerance_backward": 1e-9,
        "absolute_tolerance_backward": 1e-11,
        "relative_tolerance_quadrature": 1e-9,
        "absolute_tolerance_quadrature": 1e-11,
        "max_num_steps": 10_000,
        "num_steps_between_checkpoints": 250,
        "interpolation_polynomial": 1,
        "solver_forward": 2,
        "solver_backward": 2,
    }
    assert set(changes) <= set(options)
    return ag.ode_adjoint_tol_ctl(f, y0, t0, times, *(options | changes).values(), *args)


def oscillator(t, y, frequency, damping):
    return [y[1], -(frequency**2) * y[0] - 2 * damping * y[1]]


def oscillator_solution(t, frequency, damping):
    """Position and velocity of oscillator() from y(0) = (1, 0); complex arguments are fine."""
    w = np.sqrt(frequency**2 - damping**2)
    decayed = np.exp(-damping * t)
    position = decayed * (np.cos(w * t) + damping / w * np.sin(w * t))
    return np.stack([position, -decayed * frequency**2 / w * np.sin(w * t)], axis=-1)


def loss(frequency, damping, **changes):
    return np.sum(solve_with(oscillator, [1.0, 0.0], 0.0, TIMES, frequency, damping, **changes))


TRUE_GRADIENT = np.array(
    [
        np.sum(oscillator_solution(TIMES, 2.0 + 1e-30j, 0.1)).imag / 1e-30,
        np.sum(oscillator_solution(TIMES, 2.0, 0.1 + 1e-30j)).imag / 1e-30,
    ]
)


def gradient(**changes):
    return np.array(ag.grad(lambda w, d: loss(w, d, **changes), argnums=(0, 1))(2.0, 0.1))


# The interface of Stan's design document 0027


def test_parameters_of_ode_adjoint_tol_ctl():
    assert list(inspect.signature(ag.ode_adjoint_tol_ctl).parameters) == [
        "f",
        "y0",
        "t0",
        "times",
        "relative_tolerance_forward",
        "absolute_tolerance_forward",
        "relative_tolerance_backward",
        "absolute_tolerance_backward",
        "relative_tolerance_quadrature",
        "absolute_tolerance_quadrature",
        "max_num_steps",
        "num_steps_between_checkpoints",
        "interpolation_polynomial",
        "solver_forward",
        "solver_backward",
        "args",
    ]


def test_parameters_of_ode_adjoint_tol():
    parameters = inspect.signature(ag.ode_adjoint_tol).parameters
    names = ["f", "y0", "t0", "times", "relative_tolerance", "absolute_tolerance", "max_num_steps", "args"]
    assert list(parameters) == names


@pytest.mark.parametrize("function", [ag.ode_adjoint_tol, ag.ode_adjoint_tol_ctl])
def test_parameters_are_positional_without_defaults(function):
    *fixed, last = inspect.signature(function).parameters.values()
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in fixed)
    assert last.kind is last.VAR_POSITIONAL


@pytest.mark.parametrize("absolute", [3e-7, [3e-7, 1e-9]], ids=["number", "vector"])
def test_defaults_of_ode_adjoint_tol_bit_for_bit(absolute):
    """Absolute tolerance / 10, / 3 and as given (a vector's smallest); 250 steps; Hermite; BDF twice."""
    problem = oscillator, [1.0, 0.0], 0.0, [0.5, 60.0]  # takes more than 250 steps
    relative, most = 1e-6, 5000

    def simple(w):
        return np.sum(ag.ode_adjoint_tol(*problem, relative, absolute, most, w, 0.01))

    def full(w):
        each = np.array(absolute)
        tolerances = (relative, each / 10, relative, each / 3, relative, each.min())
        return np.sum(ag.ode_adjoint_tol_ctl(*problem, *tolerances, most, 250, 1, 2, 2, w, 0.01))

    assert simple(2.0) == full(2.0)
    assert ag.value_and_grad(simple)(2.0) == ag.value_and_grad(full)(2.0)


@pytest.mark.parametrize("name", ["forward", "backward", "quadrature"])
def test_each_absolute_tolerance_is_its_own(name):
    """Loosening one of the three changes the gradient, so none stands in for another."""
    loose = {f"absolute_tolerance_{name}": 1e-3}
    relative = {f"relative_tolerance_{each}": 1e-6 for each in ("forward", "backward", "quadrature")}
    assert not np.array_equal(gradient(**relative), gradient(**relative, **loose))
    changes_value = loss(2.0, 0.1, **relative) != loss(2.0, 0.1, **relative, **loose)
    assert changes_value == (name == "forward")


def test_max_num_steps_is_what_a_stop_says():
    with pytest.raises(ag.SolverError, match="after 7 steps") as caught:
        loss(2.0, 0.1, max_num_steps=7)
    assert caught.value.steps == 7


# Methods, interpolation, checkpoints


@pytest.mark.parametrize(("forward", "backward"), list(itertools.product(METHODS, METHODS)))
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("steps", [1, 7, 250])
def test_gradient_does_not_depend_on_the_method(forward, backward, interpolation, steps):
    """Relative tolerance 1e-9, some hundred steps: 1e-6 leaves room for their sum."""
    got = gradient(
        solver_forward=METHODS[forward],
        solver_backward=METHODS[backward],
        interpolation_polynomial=INTERPOLATIONS[interpolation],
        num_steps_between_checkpoints=steps,
    )
    np.testing.assert_allclose(got, TRUE_GRADIENT, rtol=1e-6)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS.values())
def test_segments_are_no_longer_than_the_integration(interpolation):
    """Checkpoints further apart than there are steps: one segment, and memory for no more than max_num_steps at each time."""
    far = {"interpolation_polynomial": interpolation, "max_num_steps": 1000}
    once = gradient(**far, num_steps_between_checkpoints=3000)
    for steps in (10**9, 2**61, 2**63 - 1):
        np.testing.assert_array_equal(gradient(**far, num_steps_between_checkpoints=steps), once)


def test_methods_are_different():
    values = {loss(2.0, 0.1, solver_forward=method) for method in METHODS.values()}
    gradients = {tuple(gradient(solver_backward=method)) for method in METHODS.values()}
    interpolated = {tuple(gradient(interpolation_polynomial=kind)) for kind in INTERPOLATIONS.values()}
    assert len(values) == len(gradients) == len(interpolated) == 2


# Tolerances


@pytest.mark.parametrize("method", METHODS)
def test_error_falls_with_the_tolerance(method):
    """States and gradient come closer by a factor of 10 at least for each factor of 100, and get near.

    Adams goes with polynomial interpolation: its steps are so long at tight tolerances that the cubic Hermite polynomial
    between them is what limits the gradient (to about 1e-6 here).
    """
    passes = ("forward", "backward", "quadrature")
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        changes = {f"{kind}_tolerance_{which}": tolerance for kind in ("relative", "absolute") for which in passes}
        changes |= {"solver_forward": METHODS[method], "solver_backward": METHODS[method]}
        changes["interpolation_polynomial"] = INTERPOLATIONS["polynomial" if method == "Adams" else "Hermite"]
        states = solve_with(oscillator, [1.0, 0.0], 0.0, TIMES, 2.0, 0.1, **changes)
        off = [states - oscillator_solution(TIMES, 2.0, 0.1), gradient(**changes) - TRUE_GRADIENT]
        errors.append([np.max(np.abs(each)) for each in off])
    errors = np.array(errors)
    assert np.all(errors[1:] < errors[:-1] / 10), errors
    assert np.all(errors[-1] < 1e-7), errors


def test_vector_tolerances_equal_scalar_ones():
    vectors = {f"absolute_tolerance_{name}": np.full(2, 1e-11) for name in ("forward", "backward", "quadrature")}
    np.testing.assert_array_equal(gradient(**vectors), gradient())
    lists = {name: each.tolist() for name, each in vectors.items()}
    np.testing.assert_array_equal(gradient(**lists), gradient())


@pytest.mark.parametrize("captures", [False, True])
def test_vector_quadrature_tolerance_is_one_for_each_active_parameter(captures):
    """In the order of the arguments, captured values last: loosening the idle one's changes no bit, the other's does."""

    def of_damping(damping, tolerances):
        def f(t, y, damping, *passed):
            nothing = 0.0 * t * (passed[0] if passed else idle)  # from the left: recorded within f
            return np.stack(oscillator(t, y, 2.0, damping)) + nothing

        idle = 1.0 * damping
        passed = () if captures else (idle,)
        options = {"relative_tolerance_quadrature": 1e-13, "absolute_tolerance_quadrature": tolerances}
        return np.sum(solve_with(f, [1.0, 0.0], 0.0, TIMES, damping, *passed, **options))

    tight, for_idle, for_used = (ag.grad(of_damping)(0.1, each) for each in ([1e-11, 1e-11], [1e-11, 1e-1], [1e-1, 1e-11]))
    assert for_idle == tight
    assert for_used != tight
    assert tight == pytest.approx(TRUE_GRADIENT[1], rel=1e-6)


def test_state_of_another_size_needs_its_own_tolerance():
    """A tiny state under an absolute tolerance for large ones is not resolved, with one of its own it is."""

    def f(t, y):
        return [-y[0], -50.0 * y[1]]

    y0, times = [1e6, 1e-9], [0.1]
    coarse = solve_with(f, y0, 0.0, times, relative_tolerance_forward=1e-8, absolute_tolerance_forward=1e-2)
    fine = solve_with(f, y0, 0.0, times, relative_tolerance_forward=1e-8, absolute_tolerance_forward=[1e-2, 1e-20])
    true = 1e-9 * np.exp(-5.0)
    assert abs(coarse[0, 1] / true - 1) > 1e-3
    assert abs(fine[0, 1] / true - 1) < 1e-6


# A stiff problem


def test_robertson():
    """Robertson's kinetics: rates of nine orders of magnitude, up to t = 4e4; the reference is Hairer and Wanner's problem.

    The states at t = 40, 4e3 are those of the CVODE example cvRoberts_dns, printed to seven digits and computed there to a
    relative tolerance of 1e-4, so they are asked for to that; the gradient is compared with differences of solutions.
    """

    def kinetics(t, y, k):
        slow, fast = k[0] * y[0] - k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [-slow, slow - fast, fast]

    def states(k, relative=1e-10):
        y0, times, absolute = [1.0, 0.0, 0.0], [40.0, 4e3], [1e-13, 1e-17, 1e-13]
        return ag.ode_adjoint_tol(kinetics, y0, 0.0, times, relative, absolute, 100_000, k)

    rates = np.array([0.04, 1e4, 3e7])
    y = states(rates)
    np.testing.assert_allclose(y, [[0.7158, 9.185e-06, 0.2842], [0.1832, 8.942e-07, 0.8168]], rtol=2e-4)
    np.testing.assert_allclose(np.sum(y, axis=1), 1.0, rtol=1e-9)  # mass

    jacobian = ag.jacobian(states)(rates) * rates
    for place in range(3):
        # Differences of order 4 in steps of 1e-2: an error of about 1e-8 relative, above that of the solutions.
        def moved(s, place=place):
            return states(rates * (1 + s * (np.arange(3) == place)), relative=1e-12)

        h = 1e-2
        expected = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
        np.testing.assert_allclose(jacobian[..., place], expected, rtol=1e-6, atol=1e-12)
