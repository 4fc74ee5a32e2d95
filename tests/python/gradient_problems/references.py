"""Gradients of the problems by SciPy and NumPy alone: nothing of agrad is imported here.

- A system at rest stays where it is, so the linearised system has constant coefficients: exponentials of one matrix hold the
  derivatives with respect to states and parameters (Van Loan 1978, "Computing integrals involving the matrix exponential").
- Any other system is integrated together with its linearised system, one tangent for each entry of (y0, p), by SciPy's DOP853
  or Radau. The tangents take part in the error control.
- A relaxation oscillation is solved several times, for differences of high order.

Derivatives of right-hand sides are by complex steps, which lose no digits (Squire and Trapp 1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.sparse

from gradient_problems.problem import HOPELESS, Problem

__all__ = ["STEP", "at_rest", "differences", "gradient_and_agreement", "jacobian", "stiffness", "tangents"]

STEP = 1e-150
#: Equations that are integrated side by side: further tangents get a run of their own.
WIDTH = 200


def right_hand_side(problem: Problem, t: float, y: Any, p: Any) -> Any:
    return np.asarray(problem.fun(t, y, p))


def jacobian(problem: Problem, t: float, y: Any, p: Any) -> Any:
    """The derivatives of the right-hand side with respect to the state."""
    columns = [right_hand_side(problem, t, y + 1j * STEP * unit, p).imag for unit in np.eye(problem.n)]
    return np.transpose(columns) / STEP


def directions(problem: Problem) -> tuple[Any, Any]:
    """The derivatives of (y0, p) with respect to the entries of `at`, in units of their sizes: a column each."""
    of_start, of_p = [], []
    for unit in np.diag(problem.sizes):
        start, p = problem.parts(problem.at + 1j * STEP * unit)
        of_start.append(np.asarray(start).imag / STEP)
        of_p.append(np.asarray(p).imag / STEP)
    return np.transpose(of_start), np.transpose(of_p)


def at_rest(problem: Problem) -> Any:
    """The gradient of a problem that rests, by exponentials of matrices."""
    n, y, p = problem.n, problem.y0, problem.p
    of_state = jacobian(problem, 0.0, y, p)
    of_p = np.transpose([right_hand_side(problem, 0.0, y, p + 1j * STEP * unit).imag for unit in np.eye(p.size)]) / STEP
    block = np.zeros((n + p.size, n + p.size))
    block[:n, :n], block[:n, n:] = of_state, of_p
    start, along_p = directions(problem)
    gradient = 0.0
    for t, weights in zip(problem.times, problem.weights, strict=True):
        if np.any(weights):
            gradient = gradient + weights @ (scipy.linalg.expm(t * block)[:n] @ np.concatenate([start, along_p]))
    return gradient / problem.sizes


def tangents(problem: Problem, method: str, rtol: float) -> tuple[Any, Any]:
    """The gradient by integrating the linearised system, and the states at the output times, one row each."""
    start, along_p = directions(problem)
    each = max(1, WIDTH // problem.n - 1) if problem.n < WIDTH else len(problem.at)
    gradient = []
    for first in range(0, len(problem.at), each):
        chosen = slice(first, first + each)
        states, slopes = _integrated(problem, start[:, chosen], along_p[:, chosen], method, rtol)
        gradient.append(np.einsum("ki,kij->j", problem.weights, slopes))
    return np.concatenate(gradient) / problem.sizes, states


def _integrated(problem: Problem, start: Any, along_p: Any, method: str, rtol: float) -> tuple[Any, Any]:
    n, p, count = problem.n, problem.p, start.shape[1]
    side_by_side = _takes_columns(problem)

    def slopes(t: float, z: Any) -> Any:
        y, columns = z[:n], z[n:].reshape(count, n).T
        if side_by_side:
            ahead = right_hand_side(problem, t, y[:, None] + 1j * STEP * columns, p[:, None] + 1j * STEP * along_p).imag
        else:
            pairs = zip(columns.T, along_p.T, strict=True)
            ahead = np.transpose([right_hand_side(problem, t, y + 1j * STEP * s, p + 1j * STEP * d).imag for s, d in pairs])
        return np.concatenate([right_hand_side(problem, t, y, p), (ahead / STEP).T.ravel()])

    def matrix(t: float, z: Any) -> Any:
        # How the tangents' equations depend on the state is left out: Newton's iteration finds it without.
        block = jacobian(problem, t, z[:n], p)
        whole = scipy.sparse.block_diag([scipy.sparse.csc_matrix(block)] * (count + 1), format="csc")
        return whole if n > 20 else whole.toarray()

    options: dict[str, Any] = {"jac": matrix} if method == "Radau" else {}
    scales = 1e-3 * rtol * np.tile(problem.scales, count + 1)
    begin = np.concatenate([problem.y0, start.T.ravel()])
    result = scipy.integrate.solve_ivp(
        slopes, (0.0, problem.end), begin, method, problem.times, rtol=rtol, atol=scales, **options
    )
    assert result.success, result.message
    states = result.y[:n].T
    return states, result.y[n:].T.reshape(len(problem.times), count, n).transpose(0, 2, 1)


def _takes_columns(problem: Problem) -> bool:
    """Whether the right-hand side can be evaluated for several states side by side."""
    y, p = problem.y0, problem.p
    try:
        both = right_hand_side(problem, 0.1, np.stack([y, 1.1 * y + 0.1], 1), np.stack([p, p], 1))
    except (ValueError, IndexError):
        return False
    return both.shape == (problem.n, 2) and np.allclose(both[:, 1], right_hand_side(problem, 0.1, 1.1 * y + 0.1, p), rtol=1e-12)


def stiffness(problem: Problem) -> float:
    """The largest absolute eigenvalue of the linearised system along the solution, times the span."""
    solver = {"rtol": 1e-6, "atol": 1e-8 * problem.scales}
    jac = {"jac": lambda t, y: jacobian(problem, t, y, problem.p)}
    result = scipy.integrate.solve_ivp(
        lambda t, y: right_hand_side(problem, t, y, problem.p), (0.0, problem.end), problem.y0, "Radau", **solver, **jac
    )
    every = max(1, result.t.size // (10 if problem.n > 50 else 300))
    seen = [*range(0, result.t.size, every), -1]
    matrices = (jacobian(problem, result.t[k], result.y[:, k], problem.p) for k in seen)
    return float(max(np.max(np.abs(np.linalg.eigvals(matrix))) for matrix in matrices) * problem.end)


def gradient_and_agreement(problem: Problem, stiff: float) -> tuple[Any, float, str, Any]:
    """The gradient, how far a second computation is from it, how both were made, and the states at the end or None."""
    if problem.by_differences:
        gradient, second = (differences(problem, "Radau", 1e-11, step) for step in (2e-3, 4e-3))
        _, states = tangents(problem, "Radau", 1e-9)
        made, method, tolerance = "differences of Radau at 1e-11, step 0.002", "step 0.004", 0.0
    elif problem.is_at_rest:
        method, tolerance = ("DOP853", 1e-12) if stiff < 1e4 else ("Radau", 1e-11)
        gradient, states, made = at_rest(problem), None, "expm"
        if problem.n > 200:  # hundreds of tangents of hundreds of states: powers of the matrix instead of its exponential
            second, method, tolerance = _by_eigenvectors(problem), "eigenvectors", 0.0
        else:
            second, _ = tangents(problem, method, tolerance)
    elif stiff < 0.02 * HOPELESS:
        (gradient, states), (second, _) = tangents(problem, "DOP853", 1e-13), tangents(problem, "Radau", 1e-12)
        made, method, tolerance = "DOP853 at 1e-13", "Radau", 1e-12
    else:
        fine, coarse = (3e-13, 1e-11) if stiff < HOPELESS else (1e-9, 1e-8)  # the first would take an hour, and agree no better
        (gradient, states), (second, _) = tangents(problem, "Radau", fine), tangents(problem, "Radau", coarse)
        made, method, tolerance = f"Radau at {fine:g}", "Radau", coarse
    how = f"{made}; compared with {method}" + (f" at {tolerance:g}" if tolerance else "")
    return gradient, problem.error(second, gradient), how, states


def differences(problem: Problem, method: str, rtol: float, step: float) -> Any:
    """The gradient by central differences of eighth order, of solutions without tangents.

    For relaxation oscillations, whose tangents grow a millionfold at each jump and shrink again.
    """

    def value(at: Any) -> Any:
        y0, p = problem.parts(at)
        result = scipy.integrate.solve_ivp(
            lambda t, y: right_hand_side(problem, t, y, p),
            (0.0, problem.end), y0, method, problem.times, rtol=rtol, atol=1e-3 * rtol * problem.scales,
            jac=lambda t, y: jacobian(problem, t, y, p),
        )  # fmt: skip
        return np.sum(result.y.T * problem.weights)

    gradient = []
    for unit in step * np.diag(problem.sizes):
        pairs = [value(problem.at + k * unit) - value(problem.at - k * unit) for k in (1, 2, 3, 4)]
        gradient.append(np.dot([4 / 5, -1 / 5, 4 / 105, -1 / 280], pairs) / step)
    return gradient / problem.sizes


def _by_eigenvectors(problem: Problem) -> Any:
    """As `at_rest`, for a symmetric linearised system, through its eigenvectors."""
    y, p = problem.y0, problem.p
    matrix = jacobian(problem, 0.0, y, p)
    assert np.array_equal(matrix, matrix.T)
    rates, vectors = np.linalg.eigh(matrix)
    start, along_p = directions(problem)
    of_p = np.transpose([right_hand_side(problem, 0.0, y, p + 1j * STEP * unit).imag for unit in np.eye(p.size)]) / STEP
    gradient = 0.0
    for t, weights in zip(problem.times, problem.weights, strict=True):
        through = (weights @ vectors) * np.exp(rates * t)
        held = (weights @ vectors) * np.expm1(rates * t) / rates
        gradient = gradient + through @ (vectors.T @ start) + held @ (vectors.T @ of_p @ along_p)
    return gradient / problem.sizes
