"""Compares calls of a compiled function with plain calls, which shows what a recording keeps and what has changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._record.control import solves_with
from agrad._record.recording import no_recording
from agrad._record.trees import flatten
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.signatures import Signature, copied
from agrad._transforms.engine import held

__all__ = ["check_call", "tolerance_of"]

_TOLERANCE = 1e-9
_ADVICE = "a recording keeps what the function reads beside its arguments, what it draws, and what it decides by types"


def tolerance_of(check: Any) -> float | None:
    """Returns the tolerance of an option `check`; None where calls are not checked."""
    if isinstance(check, (bool, np.bool_)):
        return _TOLERANCE if check or os.environ.get("AGRAD_CHECK_RECORDINGS") == "1" else None
    if not isinstance(check, (int, float)) or not check >= 0:
        raise ValueError(f"compile: check is {check!r}, but must be True, False or a tolerance that is not negative")
    return float(check)


def check_call(of: WithPaths, marked: Any, path: Path, call: Signature, result: Any, tolerance: float) -> None:
    """Raises where a result, or the recorded value of a transformed function, is not that of a plain call.

    `marked` are the arguments and keyword arguments of the call, with the static ones marked.
    """
    args, kwargs, *instance = copied((*marked, *of.instance))
    called: Any = of.transformation or of.function
    _check(of, "result", result, lambda: (called.__get__(*instance) if instance else called)(*args, **kwargs), tolerance)
    if of.transformation is None:
        return
    has_aux = of.transformation.has_aux
    args, kwargs, *instance = copied(call.together(call.leaves))
    function: Any = of.function.__get__(*instance) if instance else of.function

    def value() -> Any:
        found = function(*args, **kwargs)
        leaves = flatten(found[0] if has_aux else found)[0]
        return np.concatenate([np.ravel(np.asarray(leaf, dtype=float)) for leaf in leaves])

    _check(of, "value of the function", held(path.program.forward(call.inputs)), value, tolerance)


def _check(of: WithPaths, what: str, got: Any, call: Callable[[], Any], tolerance: float) -> None:
    try:
        with no_recording(), solves_with(of.error_control):
            expected = call()
    except Exception as error:
        raise RuntimeError(
            f"{of.label}: plain call raised {type(error).__name__}, but must return as the recorded one did; {_ADVICE}"
        ) from error
    leaves, _, structure = flatten(expected)
    found, _, its_structure = flatten(got)
    if structure != its_structure:
        raise RuntimeError(f"{of.label}: {what} is {got!r}, but must be of the structure of the plain call's; {_ADVICE}")
    for path, x, y in zip(structure.accessors(), found, leaves, strict=True):
        if not _are_same(x, y, tolerance):
            raise RuntimeError(
                f"{of.label}: {path.codify(what)} is {x!r}, but must be {y!r} to a tolerance of {tolerance:g}, as in the plain "
                f"call; {_ADVICE}"
            )


def _are_same(x: Any, y: Any, tolerance: float) -> bool:
    """Returns whether arrays are the same to a tolerance relative to the largest entry, and other objects of one type."""
    try:
        a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        return type(x) is type(y)
    if a.shape != b.shape:
        return False
    largest = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    return bool(np.allclose(a, b, rtol=0.0, atol=tolerance * largest, equal_nan=True))
