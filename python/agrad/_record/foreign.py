"""Explains calls of other packages' functions with recorded values: the function's name, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._record.objects import recording_within

__all__ = ["foreign_call", "stand_for_foreign"]

_PACKAGES = ("scipy", "pandas")
_GENERAL = "write the function with NumPy, or define its derivative by agrad.custom_vjp"
#: The functions of agrad, or of NumPy for recorded arrays, by the names that SciPy has for them.
_ours: dict[str, str] = {}


def stand_for_foreign(package: str, names: Iterable[str]) -> None:
    """Registers functions of a package as replacements for SciPy's of the same names, unless there are replacements already."""
    for name in names:
        _ours.setdefault(name, f"{package}.{name}")


def _holds_recorded(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return any(map(_holds_recorded, x[:10]))
    if isinstance(x, dict):
        return any(map(_holds_recorded, x.values()))
    return isinstance(x, Array) or (isinstance(x, np.ndarray) and x.dtype.char == "O" and recording_within(x) is not None)


def _name_of(frame: FrameType, package: str) -> str:
    parts = [part for part in str(frame.f_globals["__name__"]).split(".") if not part.startswith("_")]
    own = frame.f_locals.get("self")
    kind = getattr(own, "name", None) if package == "scipy" and isinstance(getattr(own, "name", None), str) else None
    if own is not None and kind is None:
        kind = type(own).__name__
    return ".".join([*parts[:2], *([kind] if kind else []), frame.f_code.co_name])


def foreign_call(error: BaseException) -> str | None:
    """Returns a message if an error arose in another package's function with recorded arguments, with the replacement."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package in _PACKAGES and not module.startswith("scipy._lib"):
            if not any(map(_holds_recorded, frame.f_locals.values())):
                return None
            name = _name_of(frame, package)
            ours = _ours.get(frame.f_code.co_name) if package == "scipy" else None
            instead = f"write {ours}" if ours else "write table.to_numpy() for the table" if package == "pandas" else _GENERAL
            if module.startswith("scipy.stats"):
                own = _ours.get(name.removeprefix("scipy.stats."))
                instead = f"write {own}" if own else "write the density with NumPy's functions, or as agrad.normal_lpdf"
            return f"{name}: argument is a recorded value, but must be plain, because the function has no derivative; {instead}"
        traceback = traceback.tb_next
    return None
