"""Stands for modules of SciPy until they are used, because their imports take longer than agrad's own."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["scipy_linalg", "scipy_optimize", "scipy_sparse", "scipy_special"]


class _OnDemand:
    """A module, imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found


scipy_linalg: Any = _OnDemand("scipy.linalg")
scipy_optimize: Any = _OnDemand("scipy.optimize")
scipy_sparse: Any = _OnDemand("scipy.sparse")
scipy_special: Any = _OnDemand("scipy.special")
