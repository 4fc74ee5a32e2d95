"""Explains calls of other packages' functions with recorded values: the function's name, and what to write instead.

A function may get a recorded value as an argument, or from a user's function that it calls, as `scipy.optimize.brentq` does.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import partial
from types import CellType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._record.objects import recording_within

__all__ = ["arises_in_foreign", "foreign_call", "is_of_foreign_call", "stand_for_foreign"]

_PACKAGES = ("scipy", "pandas")
_GENERAL = "write the function with NumPy, or define its derivative by agrad.custom_vjp"
_ROOT, _MINIMIZE, _QUAD = "agrad.root", "agrad.minimize", "agrad.quad"
#: The functions of agrad, or of NumPy for recorded arrays, by the names that SciPy has for them.
_ours: dict[str, str] = {
    **dict.fromkeys(("brentq", "brenth", "bisect", "ridder", "toms748", "newton"), _ROOT),
    **dict.fromkeys(("root_scalar", "root", "fsolve", "fixed_point"), _ROOT),
    **dict.fromkeys(("minimize", "minimize_scalar", "least_squares", "curve_fit", "leastsq", "brent", "fminbound"), _MINIMIZE),
    **dict.fromkeys(("quad", "dblquad", "tplquad", "nquad", "fixed_quad", "quad_vec"), _QUAD),
    **dict.fromkeys(("solve_ivp", "odeint"), "agrad.solve_ivp"),
}
_MOST_CLOSURES = 4  # functions around functions that are searched for recorded values


#: The modules that register functions and are imported for a message where they are not yet.
_REGISTERING = ("agrad.linalg", "agrad.special", "agrad.stats")


def stand_for_foreign(package: str, names: Iterable[str]) -> None:
    """Registers functions of a package as replacements for SciPy's of the same names, unless there are replacements already."""
    for name in names:
        _ours.setdefault(name, f"{package}.{name}")


def _holds_recorded(x: Any, depth: int = _MOST_CLOSURES) -> bool:
    if depth == 0:
        return False
    if isinstance(x, (tuple, list)):
        return any(_holds_recorded(each, depth) for each in x[:10])
    if isinstance(x, dict):
        return any(_holds_recorded(each, depth) for each in x.values())
    if isinstance(x, FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or () if cell != _EMPTY]
        return any(_holds_recorded(each, depth - 1) for each in (*cells, *(x.__defaults__ or ())))
    if isinstance(x, (MethodType, partial)):
        parts = (x.__func__, x.__self__) if isinstance(x, MethodType) else (x.func, x.args, x.keywords)
        return any(_holds_recorded(each, depth - 1) for each in parts)
    return isinstance(x, Array) or (isinstance(x, np.ndarray) and x.dtype.char == "O" and recording_within(x) is not None)


def _name_of(frame: FrameType, package: str) -> str:
    parts = [part for part in str(frame.f_globals["__name__"]).split(".") if not part.startswith("_")]
    own = frame.f_locals.get("self")
    kind = getattr(own, "name", None) if package == "scipy" and isinstance(getattr(own, "name", None), str) else None
    if own is not None and kind is None:
        kind = type(own).__name__
    return ".".join([*parts[:2], *([kind] if kind else []), frame.f_code.co_name])


def arises_in_foreign(error: BaseException) -> bool:
    """Returns whether another package's code raised, or agrad's or NumPy's code that it called, and no user's code."""
    traceback, last = error.__traceback__, ""
    while traceback is not None:
        package = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        last = last if package in ("agrad", "numpy") else package
        traceback = traceback.tb_next
    return last in _PACKAGES


def is_of_foreign_call(error: BaseException) -> bool:
    """Returns whether another package's code raised, or Python did, because that code called on after an error."""
    return isinstance(error, SystemError) or (isinstance(error, Exception) and arises_in_foreign(error))


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
            for each in _REGISTERING:
                importlib.import_module(each)
            name = _name_of(frame, package)
            ours = _ours.get(frame.f_code.co_name) if package == "scipy" else None
            instead = f"write {ours}" if ours else "write table.to_numpy() for the table" if package == "pandas" else _GENERAL
            if module.startswith("scipy.stats"):
                own = _ours.get(name.removeprefix("scipy.stats."))
                instead = f"write {own}" if own else "write the density with NumPy's functions, or as agrad.stan.normal_lpdf"
            is_argument = any(_holds_recorded(x, depth=1) for x in frame.f_locals.values())
            what = "argument" if is_argument else "the result of its function"
            return f"{name}: {what} is a recorded value, but must be plain, because {name} has no derivative; {instead}"
        traceback = traceback.tb_next
    return None


_EMPTY = CellType()
