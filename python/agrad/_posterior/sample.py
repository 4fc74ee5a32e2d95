"""Defines Draws, and runs the samplers that call a C function."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from agrad._bridges.c_function import CFunction
from agrad._posterior.declared import named_leaves

__all__ = ["Draws", "drawn"]


class Draws:
    """Draws of the free numbers of a log density, in chains.

    Attributes
    ----------
    x : numpy.ndarray, (chains, draws, size)
        The free numbers.
    values : tree
        The parameters' values: arrays of shape (chains, draws, ...).
    rejected : dict
        How many calls of the sampler had no value: by a DomainError, by a SolverError, and because a number was not finite.
    result : Any
        What the sampler returned.
    """

    def __init__(self, model: Any, x: np.ndarray, rejected: dict[str, int], result: Any) -> None:
        self.model, self.x, self.rejected, self.result = model, x, rejected, result
        self.values: Any = self._in_chains(model.constrain)

    def _in_chains(self, f: Callable[[np.ndarray], Any]) -> Any:
        """Returns a function of rows for all draws, with arrays of shape (chains, draws, ...)."""
        found = f(np.reshape(self.x, (-1, self.x.shape[-1])))
        return optree.tree_map(lambda leaf: np.reshape(leaf, (*self.x.shape[:2], *np.shape(leaf)[1:])), found)

    def log_density(self) -> np.ndarray:
        """Return the log densities of the free numbers, (chains, draws)."""
        found: np.ndarray = self._in_chains(self.model.log_density)
        return found

    def generated(self) -> Any:
        """Return the generated quantities: arrays of shape (chains, draws, ...)."""
        return self._in_chains(self.model.generated)

    def log_likelihood(self) -> Any:
        """Return the log likelihoods of the observations: arrays of shape (chains, draws, ...)."""
        return self._in_chains(self.model.log_likelihood)

    def to_arviz(self) -> Any:
        """Return the draws for ArviZ: an InferenceData, or with ArviZ 1 a DataTree.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            With the groups posterior (parameters and generated quantities), unconstrained_posterior, sample_stats,
            constant_data and, where the log density has it, log_likelihood.

        Raises
        ------
        ImportError
            ArviZ is not installed.
        """
        arviz = _imported("arviz", "LogDensity.to_arviz", "arviz")
        model = self.model
        groups: dict[str, dict[str, Any]] = {
            "posterior": dict(named_leaves(self.values)),
            "unconstrained_posterior": {v.name: self.x[..., v.free] for v in model.declared.variables},
            "sample_stats": {"lp": self.log_density()},
        }
        if model.has("generated"):
            groups["posterior"] |= dict(named_leaves(self.generated(), "generated"))
        if model.has("log_likelihood"):
            groups["log_likelihood"] = dict(named_leaves(self.log_likelihood(), "log_likelihood"))
        if model.data is not None:
            groups["constant_data"] = {name: np.asarray(x) for name, x in named_leaves(model.data, "data")}
        if int(arviz.__version__.partition(".")[0]) < 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a group that this version does not know
                return arviz.from_dict(**groups, coords=model.coords, dims=model.dims)
        return arviz.from_dict(groups, coords=model.coords, dims=model.dims)

    def __repr__(self) -> str:
        chains, draws, _ = self.x.shape
        return f"<{chains} chains of {draws} draws of {self.model!r}>"


def _imported(name: str, function: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{function}: {name} is not installed, but must be; pip install {what}") from error


def _walnutpie(walnutpie: Any, f: Any, starts: np.ndarray, draws: int, warmup: int, seed: int) -> tuple[np.ndarray, Any]:
    lengths = {"min_warmup_iter": warmup, "max_warmup_iter": warmup, "min_sampling_iter": draws, "max_sampling_iter": draws}
    target = (f.signature("walnutpie"), f.context)
    chains = walnutpie.walnuts_pyfunc(target, inits=starts, num_chains=len(starts), num_params=f.size, seed=seed, **lengths)
    return np.stack([np.asarray(chain) for chain in chains]), chains


def _owalnuts(owalnuts: Any, f: Any, starts: np.ndarray, draws: int, warmup: int, seed: int) -> tuple[np.ndarray, Any]:
    target = owalnuts.from_cfunc(f.signature("owalnuts"), f.size, user_data=f.context)
    result = owalnuts.sample(target, init=starts, chains=len(starts), draws=draws, warmup=warmup, seed=seed)
    return np.asarray(result.samples), result


#: The samplers by the names of their packages, in the order in which one is chosen.
_SAMPLERS = {"owalnuts": _owalnuts, "walnutpie": _walnutpie}  # walnutpie goes on after negative codes


def _chosen(sampler: str) -> str:
    if sampler != "auto":
        return sampler
    installed = [name for name in _SAMPLERS if importlib.util.find_spec(name) is not None]
    if not installed:
        raise ImportError(f"LogDensity.sample: no sampler is installed, but one must be: pip install {' or '.join(_SAMPLERS)}")
    return installed[0]


def _check_ended(f: CFunction, error: Exception | None = None) -> None:
    """Raises where calls had negative codes: the sampler has ended, or its draws follow another density."""
    if f.counts["ended"]:
        raise RuntimeError(f"LogDensity.sample: the log density is not known at a point: {f.last_error}") from error


def drawn(model: Any, starts: np.ndarray, draws: int, warmup: int, seed: int, sampler: str) -> Draws:
    name = _chosen(sampler)
    if name not in _SAMPLERS:
        known = ", ".join(map(repr, ("auto", *_SAMPLERS)))
        raise ValueError(f"LogDensity.sample: sampler is {sampler!r}, but must be one of {known}")
    package, f = _imported(name, "LogDensity.sample", name), model.c_function(starts[0])
    try:
        x, result = _SAMPLERS[name](package, f, starts, draws, warmup, seed)
    except Exception as error:
        _check_ended(f, error)
        raise
    _check_ended(f)
    counts = f.counts
    return Draws(model, x, {reason: counts[reason] for reason in ("domain", "solver", "not finite")}, result)
