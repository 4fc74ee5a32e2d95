"""Second derivatives of densities of many observations by nested transformations: differences of gradients, and closed forms.

From sixteen observations on, formulas for eight terms at once compute the sum of a density's terms; a recorded gradient of such
a sum must be differentiated through its terms.
"""

import numpy as np
import pytest
import scipy.special

import agrad as ag
from agrad import stan

Y = np.linspace(0.5, 2.5, 20)
COUNTS = np.arange(1, 21)
DENSITIES = {
    "gamma, shape": lambda p: stan.gamma_lpdf(Y, p, 1.0),
    "gamma, an array of shapes": lambda p: stan.gamma_lpdf(Y, p * np.ones(20), 1.0),
    "gamma, observations": lambda p: stan.gamma_lpdf(Y * p, 1.5, 1.0),
    "gamma, tail": lambda p: stan.gamma_lcdf(Y, p, 1.0),
    "normal": lambda p: stan.normal_lpdf(Y, 0.3, p),
    "cauchy": lambda p: stan.cauchy_lpdf(Y, p, 1.0),
    "student_t": lambda p: stan.student_t_lpdf(Y, p, 0.0, 1.0),
    "weibull": lambda p: stan.weibull_lpdf(Y, p, 1.0),
    "exponential": lambda p: stan.exponential_lpdf(Y, p),
    "beta": lambda p: stan.beta_lpdf(Y / 3, p, 2.0),
    "poisson": lambda p: stan.poisson_lpmf(COUNTS, p),
    "neg_binomial_2": lambda p: stan.neg_binomial_2_lpmf(COUNTS, 3.0, p),
    "several sums": lambda p: stan.cauchy_lpdf(Y, p, 1.0) + p * stan.gamma_lpdf(Y, p, 2.0),
}
WAYS = {
    "grad of grad": lambda f: ag.grad(ag.grad(f)),
    "compiled": lambda f: ag.compile(ag.grad(ag.grad(f))),
    "grad of compiled": lambda f: ag.grad(ag.compile(ag.grad(f))),
    "tangent of grad": lambda f: lambda p: ag.jvp(ag.grad(f), (p,), (1.0,))[1],
    "jacobian of an array": lambda f: lambda p: ag.jacobian(lambda q: np.stack([ag.grad(f)(q[0])]))(np.array([p]))[0, 0],
    "rows": lambda f: lambda p: ag.vmap(ag.grad(ag.grad(f)))(np.array([p, 1.1 * p]))[0],
    "in a loop": lambda f: ag.grad(lambda p: ag.scan(lambda c, _: (ag.grad(f)(c), None), p, length=1)[0]),
    "hessian": ag.hessian,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES)
def test_nested_gradients(density, way):
    h, slope = 1e-4, ag.grad(density)
    near, far = ((slope(1.3 + k * h) - slope(1.3 - k * h)) / (2 * k * h) for k in (1, 2))
    assert way(density)(1.3) == pytest.approx((4 * near - far) / 3, rel=1e-8)


def test_a_root_of_a_score():
    score = ag.grad(lambda a: stan.gamma_lpdf(Y, a, 1.0))
    found = ag.root(score, 1.0).x
    assert scipy.special.digamma(found) == pytest.approx(np.mean(np.log(Y)), rel=1e-12)
    assert ag.grad(score)(found) == pytest.approx(-20 * scipy.special.polygamma(1, found), rel=1e-12)
