"""Logistic regression by maximum likelihood: nested parameters, one compiled gradient, SciPy's optimiser.

The data are made from known coefficients, so that the estimates have something to be compared with.
"""

import numpy as np
from scipy.optimize import minimize

import agrad as ag

truth = np.array([1.0, -2.0, 0.5])
random = np.random.default_rng(1)
x = random.standard_normal((2000, 3))
passed = random.random(2000) < 1 / (1 + np.exp(-(0.3 + x @ truth)))


def loss(params):
    """Minus the mean log likelihood. log_inv_logit keeps its digits where a probability is close to 0 or 1."""
    score = params["intercept"] + x @ params["slopes"]
    return -np.mean(ag.log_inv_logit(np.where(passed, score, -score)))


value_and_gradient = ag.compile(ag.value_and_grad(loss))


def flat_loss(flat):
    """The same for SciPy, whose parameters are one vector."""
    value, gradient = value_and_gradient({"intercept": flat[0], "slopes": flat[1:]})
    return value, np.concatenate([[gradient["intercept"]], gradient["slopes"]])


found = minimize(flat_loss, np.zeros(4), jac=True, options={"gtol": 1e-8})
print("intercept and slopes:", found.x.round(3))
print("made from:           ", np.array([0.3, *truth]))
