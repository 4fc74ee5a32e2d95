"""A user's program with full types: mypy checks it strictly and test_types.py runs it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import agrad as ag
from agrad import stan

Vector = NDArray[np.float64]


@dataclass
class Rates:
    growth: float
    death: float


def rhs(t: float, y: Vector, rates: Rates) -> list[float]:
    prey, predator = y
    return [rates.growth * prey - prey * predator, prey * predator - rates.death * predator]


def loss(rates: Rates, times: Vector, *, scale: float = 1.0) -> float:
    y = ag.solve_ivp(rhs, (0.0, 3.0), [1.0, 0.5], t_eval=times, args=(rates,)).y
    return float_of(np.sum(np.log(y) ** 2) / scale)


def float_of(x: np.floating | float) -> float:
    """What a checker should take for a float and what a recorded value passes unchanged."""
    return x  # type: ignore[return-value]


def density(mu: Vector, sigma: float) -> float:
    total: float = stan.normal_lpdf(np.array([0.1, 0.2]), mu, sigma, propto=True)
    return total + float_of(np.sum(stan.log1p_exp(mu)))


def simulated(seed: int) -> Vector:
    rng = np.random.default_rng(seed)
    scale: float = stan.exponential_rng(1.0, rng=rng)
    draws: Vector = stan.normal_rng([0.0, 1.0], scale, rng=rng, size=(3, 2))
    return draws


def of_pair(mu: Vector, sigma: float) -> dict[str, float]:
    return {"density": density(mu, sigma)}


def with_text(x: float) -> tuple[float, str]:
    return x, "aux"


def sines(x: Vector) -> Vector:
    return np.sin(x)


def second_derivatives() -> float:
    """Derivatives in other forms; what they add up to is zero."""
    at, along = np.zeros(2), np.ones(2)
    hessian: Vector = ag.compile(ag.hessian(density))(at, 1.0)
    product: Vector = ag.hvp(density)(at, 1.0, along)
    value, tangent = ag.jvp(of_pair, (at, 1.0), (along, 0.0))
    same, pullback = ag.vjp(of_pair, at, 1.0)
    adjoints: tuple[Vector, float] = pullback({"density": 1.0})
    text = ag.vjp(with_text, 1.0, has_aux=True)[2]
    rows: Vector = ag.jacfwd(density, argnums=0)(at, sigma=1.0)
    columns: Vector = ag.jacrev(density, has_aux=False)(at, 1.0)
    ag.check_grads(density, at, 1.0, order=2)
    zero = float(np.sum(hessian @ along - product) + np.sum(rows - columns) + len(text) - 3)
    return zero + tangent["density"] - float(np.sum(adjoints[0])) + same["density"] - value["density"]


def main() -> tuple[float, Rates, Vector, Vector]:
    times = np.linspace(1.0, 3.0, 5)
    fast = ag.compile(ag.value_and_grad(loss))
    value, gradient = fast(Rates(1.0, 0.7), times, scale=2.0)
    slope: Rates = gradient
    of_mean: Vector = ag.grad(density)(np.zeros(2), 1.0)
    matrix: Vector = ag.jacobian(sines)(np.zeros(2))
    value += second_derivatives() + 0.0 * float(np.sum(simulated(1)))
    try:
        stan.ode_adjoint_tol(rhs, [1.0, 1.0], 0.0, times, 1e-6, 1e-8, 1, Rates(1.0, 1.0))
    except ag.SolverError as error:
        value += 0.0 * error.t
    return value, slope, of_mean, matrix


def misuse() -> None:
    """Each line is wrong; that mypy says so is checked by its comment being needed."""
    ag.grad(3)  # type: ignore[arg-type]
    ag.grad(loss)(Rates(1.0, 0.7))  # type: ignore[call-arg]
    ag.value_and_grad(loss)("text", np.ones(2))  # type: ignore[arg-type]
    ag.hessian(density)("text", 1.0)  # type: ignore[arg-type]
    ag.jvp(density, 1.0, (1.0,))  # type: ignore[call-overload]
    ag.vjp(density, 1.0)[2]  # type: ignore[misc]
    ag.check_grads(density, 1.0, ordre=1)  # type: ignore[call-arg]
    ag.compile(density)(np.ones(2), scale=1.0)  # type: ignore[call-arg]
    stan.log1p()  # type: ignore[call-overload]
    stan.normal_lpdf(0.0, 0.0, 1.0, proto=True)  # type: ignore[call-arg]
    stan.normal_rng(0.0)  # type: ignore[call-arg]
    stan.normal_rng(0.0, 1.0, rng="text")  # type: ignore[arg-type]
    ag.nonsense  # type: ignore[attr-defined]  # noqa: B018
    ag.solve_ivp(rhs, (0.0, 1.0), [1.0, 1.0], args=(Rates(1.0, 1.0),)).y.nonsense  # type: ignore[attr-defined]  # noqa: B018
    ag.stats.norm.nonsense  # type: ignore[attr-defined]  # noqa: B018
    ag.stats.norm.logpdf(np.zeros(2)).nonsense  # type: ignore[attr-defined]  # noqa: B018
    ag.compile(density)(np.ones(2), 1.0).nonsense  # type: ignore[attr-defined]  # noqa: B018
    stan.normal_lpdf(0.0, 0.0, 1.0).nonsense  # type: ignore[attr-defined]  # noqa: B018
    stan.log1p_exp(np.ones(2)).nonsense  # type: ignore[attr-defined]  # noqa: B018
