"""Random numbers, vectors and matrices of the distributions whose densities agrad has: ``normal_rng`` and 58 others.

Names and parameters are Stan's; each function is also in `agrad.stan`. ``rng`` is a ``numpy.random.Generator``, a
seed, or None; ``size`` is the shape of the draws, to which parameters broadcast::

    rng = np.random.default_rng(1)
    ag.random.normal_rng(0.0, [1.0, 2.0], rng=rng)  # two draws
    ag.random.multi_normal_rng([0.0, 1.0], np.eye(2), rng=rng, size=100)  # (100, 2)

A random number has no derivative: recorded parameters raise TypeError. A function that is recorded to be run many times
(`agrad.compile`) draws once, when it is recorded; pass draws as arguments.
"""

from typing import TYPE_CHECKING

from agrad._random import categories as _categories
from agrad._random import counts as _counts
from agrad._random import location_scale as _location_scale
from agrad._random import multivariate as _multivariate
from agrad._random import positive as _positive
from agrad._random.categories import *  # noqa: F403
from agrad._random.counts import *  # noqa: F403
from agrad._random.location_scale import *  # noqa: F403
from agrad._random.multivariate import *  # noqa: F403
from agrad._random.positive import *  # noqa: F403

_names = [
    *_location_scale.__all__,
    *_positive.__all__,
    *_counts.__all__,
    *_categories.__all__,
    *_multivariate.__all__,
]
if not TYPE_CHECKING:  # mypy does not read sums of lists, and takes the names for private
    __all__ = _names


def __dir__() -> list[str]:
    return sorted(_names)
