"""Problems with known gradients as differential-algebraic equations, by both ways."""

import numpy as np
import pytest

import agrad as ag
from gradient_problems import PROBLEMS, REFERENCES

#: Van der Pol's gradient is lost within the jumps of its state (docs/gradient_trust.md); solve_dae has dense matrices alone.
CHOSEN = [name for name, problem in PROBLEMS.items() if problem.n <= 20 and name != "van der Pol"]


def solver(sensitivities):
    def solve(fun, span, y0, method, times, *, args, rtol, atol):
        def residual(t, y, yp, *given):
            return yp - np.stack(list(fun(t, y, *given)))

        return ag.solve_dae(residual, span, y0, t_eval=times, args=args, rtol=rtol, atol=atol, sensitivities=sensitivities)

    return solve


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("way", ["adjoint", "forward"])
@pytest.mark.parametrize("name", CHOSEN)
def test_gradients_are_right(name, way, rtol):
    problem = PROBLEMS[name]
    gradient = ag.grad(problem.loss(solver(way), "", rtol))(problem.at)
    # The jumps of the Oregonator amplify errors of BDF's steps: 133 rtol, where solve_ivp's BDF has 300.
    allowed = 200 if name == "Oregonator" else problem.allowed
    assert problem.error(gradient, REFERENCES[name]["gradient"]) < allowed * rtol
