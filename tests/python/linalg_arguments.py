"""Matrices for tests of linear algebra."""

import numpy as np

GENERATOR = np.random.default_rng(20250411)


def general(n, m=None):
    a = GENERATOR.standard_normal((n, m or n))
    return a + 2 * np.sqrt(n) * np.eye(*a.shape)


def off_zero(a):
    """Entries whose absolute values have derivatives, and keep them within the steps of differences."""
    return a + np.copysign(0.1, a)


def symmetric(a):
    return (a + np.swapaxes(a, -1, -2)) / 2


def definite(n):
    a = GENERATOR.standard_normal((n, n))
    return a @ a.T / n + np.eye(n)
