"""Lists the signatures in which tools call C functions, as types of ctypes."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_int64, c_size_t, c_ssize_t, c_uint64, c_void_p
from typing import Any

__all__ = ["SIGNATURES"]

_NUMBERS = POINTER(c_double)
_VALUE: tuple[str, Any] = ("value", CFUNCTYPE(c_double, c_ssize_t, _NUMBERS, _NUMBERS, c_void_p))

#: By the name of the tool: the kind of the function (bindings/bridges/c_function.cpp), and its type.
SIGNATURES: dict[str, tuple[str, Any]] = {
    "nutpie": ("code", CFUNCTYPE(c_int64, c_uint64, _NUMBERS, _NUMBERS, _NUMBERS, c_void_p)),
    "walnutpie": ("int", CFUNCTYPE(c_int, c_size_t, _NUMBERS, _NUMBERS, _NUMBERS, c_void_p)),
    "owalnuts": _VALUE,
    "numba": _VALUE,
}
