"""Matrices for tests of linear algebra."""

import threading

import numpy as np


class Numbers(threading.local):
    """Normal numbers that are the same in each thread, whichever tests have run before."""

    def __init__(self):
        self.restart()

    def restart(self, *seed):
        self._generator = np.random.default_rng([20250411, *seed])

    def standard_normal(self, shape):
        return self._generator.standard_normal(shape)


GENERATOR = Numbers()


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
