"""Robertson's stiff chemical reactions: sensitivities over five orders of magnitude in time, a tolerance for each state.

The three concentrations sum to 1 at all times, so the derivatives of the sum must vanish: a check that needs no reference.
"""

import numpy as np

import agrad as ag

BDF, HERMITE = 2, 1


def reactions(t, y, rates):
    """H. H. Robertson, The solution of a set of reaction rate equations (1966)."""
    slow, fast, recombination = rates
    to_b, to_c, back = slow * y[0], fast * y[1] ** 2, recombination * y[1] * y[2]
    return [back - to_b, to_b - back - to_c, to_c]


def concentrations(log_rates):
    """The three concentrations at t = 0.4, 40, 4000 and 40000."""
    y0, times = [1.0, 0.0, 0.0], [0.4, 40.0, 4000.0, 40000.0]
    each = [1e-10, 1e-14, 1e-10]  # the second concentration stays below 4e-5
    return ag.ode_adjoint_tol_ctl(
        reactions, y0, 0.0, times, 1e-8, each, 1e-8, 1e-10, 1e-8, 1e-10, 10_000, 200, HERMITE, BDF, BDF, np.exp(log_rates)
    )


log_rates = np.log([0.04, 3e7, 1e4])
y = ag.compile(concentrations)(log_rates)
slopes = ag.compile(ag.jacobian(concentrations))(log_rates)  # shape (times, species, rates)
print("concentrations at the end:", y[-1].round(6))
print("derivative of the last species by the logarithm of each rate:")
for time, row in zip([0.4, 40, 4000, 40000], slopes[:, 2], strict=True):
    print(f"  t = {time:>7}:", row.round(4) + 0.0)
print("derivatives of the sum of species vanish:", bool(np.abs(slopes.sum(axis=1)).max() < 1e-5))
