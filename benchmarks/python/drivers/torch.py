"""PyTorch in float64, eager, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from cases import Case, Library

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

VERSIONS = {"torch": torch.__version__, "numpy": np.__version__}


def _logaddexp(a: Any, b: Any) -> Any:
    return torch.logaddexp(torch.as_tensor(a), torch.as_tensor(b))


def _solve_triangular(matrix: Any, right: Any, lower: bool) -> Any:
    return torch.linalg.solve_triangular(matrix, right[:, None], upper=not lower)[:, 0]


_NUMPY = SimpleNamespace(
    exp=torch.exp,
    log=torch.log,
    log1p=torch.log1p,
    sin=torch.sin,
    tanh=torch.tanh,
    sum=torch.sum,
    diag=torch.diagonal,
    logaddexp=_logaddexp,
    linalg=SimpleNamespace(cholesky=torch.linalg.cholesky),
)
LIBRARY = Library(
    np=_NUMPY,
    array=torch.stack,
    logsumexp=lambda x, axis: torch.logsumexp(x, axis),
    solve_triangular=_solve_triangular,
    asarray=torch.from_numpy,
    own=torch,
)
RECORDING, COMPILING = "eager", None
LONGEST_LOOP = 1_000_000
SECOND_ORDER = ("eager",)


def variants(case: Case) -> list[tuple[str, str]]:
    return [("eager", "numpy")]


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], tuple[float, np.ndarray]]:
    def call() -> tuple[float, np.ndarray]:
        x = torch.from_numpy(point).requires_grad_()
        value = function(x)
        value.backward()
        return value.item(), x.grad.numpy()

    return call


def product(function: Callable[[Any], Any], point: np.ndarray, vector: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    def call() -> np.ndarray:
        x = torch.from_numpy(point).requires_grad_()
        (first,) = torch.autograd.grad(function(x), x, create_graph=True)
        return torch.autograd.grad(first, x, torch.from_numpy(vector))[0].numpy()

    return call


def hessian(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = torch.func.hessian(function)
    return lambda: transformed(torch.from_numpy(point)).numpy()
