"""The transistor amplifier of the IVP test set, by a singular mass matrix of coupled pairs, and by solve_dae."""

from __future__ import annotations

import numpy as np
import pytest

import agrad as ag

ALPHA, VOLTAGE, R = 0.99, 0.026, 9000.0
#: The supply Ub, the current beta, the resistance R0, the capacity C5.
NUMBERS = np.array([6.0, 1e-6, 1000.0, 5e-6])
#: Mazzia and Magherini, Test Set for Initial Value Problem Solvers, the solution at t = 0.2.
PUBLISHED = [
    -0.5562145012262709e-2,
    3.006522471903042,
    2.849958788608128,
    2.926422536206241,
    2.704617865010554,
    2.761837778393145,
    4.770927631616772,
    1.236995868091548,
]
#: Derivatives of y4 and y7 by the logarithms of the numbers: central differences of five differential states, with Newton for
#: the three others, by LSODA at rtol = 1e-11. They agree with each other to 2e-7 of the largest.
BY_LOGARITHMS = {
    4: [2.987358349, -5.518592213e-05, 4.457870650e-02, 1.036766969e-07],
    7: [1.185854864, 1.493360758e-02, -1.437263715e-02, -3.444506022e-01],
}


def mass():
    m = np.zeros((8, 8))
    for (i, j), c in {(0, 1): 1e-6, (3, 4): 3e-6, (6, 7): 5e-6}.items():  # capacitors between two nodes
        m[i, i] = m[j, j] = -c
        m[i, j] = m[j, i] = c
    m[2, 2], m[5, 5] = -2e-6, -4e-6
    return m


def amplifier(t, y, p):
    """The currents at the nodes; those of the last pair are divided by C5, relative to its value in the mass matrix."""
    supply, beta, first, relative = p[0], p[1], p[2], p[3] / 5e-6
    signal = 0.1 * np.sin(200 * np.pi * t)
    g1, g2 = (beta * (np.exp((y[i] - y[i + 1]) / VOLTAGE) - 1) for i in (1, 4))
    return [
        (y[0] - signal) / first,
        (2 * y[1] - supply) / R + (1 - ALPHA) * g1,
        y[2] / R - g1,
        (y[3] - supply) / R + ALPHA * g1,
        (2 * y[4] - supply) / R + (1 - ALPHA) * g2,
        y[5] / R - g2,
        ((y[6] - supply) / R + ALPHA * g2) / relative,
        y[7] / R / relative,
    ]


def end(p, **options):
    half = p[0] / 2
    start = [0.0, half, half, p[0], half, half, p[0], 0.0]
    return ag.solve_ivp(amplifier, (0.0, 0.2), start, args=(p,), mass_matrix=mass(), max_num_steps=10**6, **options).y[:, -1]


@pytest.mark.parametrize("method", ["auto", "Rodas4"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_transistor_amplifier(method, tolerance):
    options = {"method": method, "rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(end(NUMBERS, **options), PUBLISHED, rtol=tolerance)
    jacobian = ag.jacrev(lambda p: end(p, **options))(NUMBERS) * NUMBERS
    for i, expected in BY_LOGARITHMS.items():
        np.testing.assert_allclose(jacobian[i], expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(ag.jacfwd(lambda p: end(p, **options))(NUMBERS) * NUMBERS, jacobian, atol=1e-8)


def test_hessian_against_differences_of_tight_gradients():
    found = ag.hessian(lambda p: end(p, rtol=1e-7, atol=1e-7)[7])(NUMBERS)[1] * NUMBERS[1] * NUMBERS
    step = 1e-4 * NUMBERS[1] * np.array([0.0, 1.0, 0.0, 0.0])
    ahead, behind = (ag.grad(lambda p: end(p, rtol=1e-10, atol=1e-10)[7])(NUMBERS + s * step) for s in (1, -1))
    expected = (ahead - behind) / 2e-4 * NUMBERS
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_the_consistent_start_moves_with_the_supply():
    p = np.array([6.5, 1e-6, 1000.0, 5e-6])
    first = ag.solve_ivp(amplifier, (0.0, 1e-3), [0.0, 3, 3, 6, 3, 3, 6, 0.0], args=(p,), mass_matrix=mass()).y[:, 0]
    currents = np.array(amplifier(0.0, first, p))
    pairs = [currents[0] + currents[1], currents[3] + currents[4], currents[6] + currents[7]]
    np.testing.assert_allclose(pairs, 0, atol=1e-15)
    np.testing.assert_allclose(mass() @ first, mass() @ [0.0, 3, 3, 6, 3, 3, 6, 0.0], atol=1e-18)


def residual(t, y, slope, p):
    """The equations of the nodes, of which each pair shares the derivative of its capacitor's voltage."""
    left = mass()
    left[6:, 6:] *= 0
    by_last = p[3] * (slope[6] - slope[7])
    right = amplifier(t, y, np.concatenate([p[:3], [5e-6]]))
    return left @ slope - np.concatenate([np.zeros(6), [by_last, -by_last]]) - np.stack(right)


def dae_solution(p, **options):
    half = p[0] / 2
    start = [0.0, half, half, p[0], half, half, p[0], 0.0]
    return ag.solve_dae(residual, (0.0, 0.2), start, args=(p,), max_num_steps=10**6, **options)


def dae_end(p, **options):
    return dae_solution(p, **options).y[:, -1]


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-6, "atol": 1e-6}, {"rtol": 1e-8, "atol": 1e-8}], ids=str)
def test_gradients_by_solve_dae(options):
    allowed = max(10 * options.get("rtol", 1e-6), 1e-6)  # the references have an error of 2e-7
    np.testing.assert_allclose(dae_end(NUMBERS, **options), PUBLISHED, rtol=1e-6, atol=1e-6)
    for i, expected in BY_LOGARITHMS.items():
        gradient = ag.grad(lambda p, i=i: dae_end(p, **options)[i])(NUMBERS) * NUMBERS
        np.testing.assert_allclose(gradient, expected, atol=allowed * np.abs(expected).max())


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize("i", [2, 5])
def test_gradients_of_slopes_by_solve_dae(i, tolerance):
    """A slope of 50 / s has adjoints of 1e6 and multipliers that no Newton iteration finds to 1e-15 of that."""
    expected = ag.grad(lambda p: dae_solution(p, method="Rodas5P", rtol=1e-9, atol=1e-9).yp[i, -1])(NUMBERS) * NUMBERS
    found = ag.grad(lambda p: dae_solution(p, rtol=tolerance, atol=tolerance).yp[i, -1])(NUMBERS) * NUMBERS
    np.testing.assert_allclose(found, expected, atol=max(30 * tolerance, 1e-6) * np.abs(expected).max())


@pytest.mark.parametrize("tolerance", [1e-6, pytest.param(1e-8, marks=pytest.mark.full)])
def test_one_step_methods_of_solve_dae(tolerance):
    options = {"method": "Rodas5P", "rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(dae_end(NUMBERS, **options), PUBLISHED, rtol=tolerance, atol=tolerance)
    for transform in (ag.jacrev, ag.jacfwd):
        jacobian = transform(lambda p: dae_end(p, **options))(NUMBERS) * NUMBERS
        for i, expected in BY_LOGARITHMS.items():
            np.testing.assert_allclose(jacobian[i], expected, atol=1e-6 * np.abs(expected).max())


FORWARD = [{}, {"rtol": 1e-6, "atol": 1e-6}, pytest.param({"rtol": 1e-8, "atol": 1e-8}, marks=pytest.mark.full)]


@pytest.mark.parametrize("options", FORWARD, ids=str)
def test_forward_mode_by_solve_dae(options):
    jacobian = ag.jacfwd(lambda p: dae_end(p, **options))(NUMBERS) * NUMBERS
    for i, expected in BY_LOGARITHMS.items():
        np.testing.assert_allclose(jacobian[i], expected, atol=1e-5 * np.abs(expected).max())


def test_forward_mode_where_sensitivities_need_too_many_steps():
    """The states take 3400 steps, sensitivities 16000: adjoints compute the Jacobian."""
    half = NUMBERS[0] / 2
    start = [0.0, half, half, 2 * half, half, half, 2 * half, 0.0]

    def end(p, **options):
        options |= {"args": (p,), "rtol": 1e-6, "atol": 1e-6, "max_num_steps": 8000}
        return ag.solve_dae(residual, (0.0, 0.2), start, **options).y[7:, -1]

    with pytest.raises(ag.SolverError, match="IDA_TOO_MUCH_WORK"):
        ag.jacrev(lambda p: end(p, sensitivities="forward"))(NUMBERS)
    jacobian = ag.jacfwd(end)(NUMBERS)
    np.testing.assert_allclose(jacobian, ag.jacrev(end)(NUMBERS), rtol=1e-12)
    np.testing.assert_allclose(jacobian[0, 1:] * NUMBERS[1:], BY_LOGARITHMS[7][1:], atol=1e-5)
