"""Loads elementwise functions that users wrote as rules in C++: shared libraries without Python, of one file each."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from types import SimpleNamespace

from agrad._core import add_rules
from agrad._rule_function import function_of

__all__ = ["load_rules"]

_loaded: list[ctypes.CDLL] = []  # which stay loaded, because programs point to their code


def load_rules(path: str | os.PathLike[str]) -> SimpleNamespace:
    """Load the elementwise functions of a shared library that was compiled with ``<agrad/rule_library.hpp>``.

    The functions are as agrad's own ones: they broadcast, take numbers, NumPy arrays and recorded arrays, and have derivatives
    of every order in every transformation. The page "Your own functions" of the documentation has an example. The library
    stays loaded until the process ends; to load it again is harmless.

    A pickle of a compiled function with such functions names them, and does not hold their code: the process that reads the
    pickle loads the library before.

    Parameters
    ----------
    path : str or path-like
        The shared library.

    Returns
    -------
    types.SimpleNamespace
        The functions under their names.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is damaged or no library of rules; it was compiled with the headers of another agrad, or for a processor with
        more instructions; or a name is taken by a rule of agrad or of a library that was loaded before.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise FileNotFoundError(f"load_rules: path is {str(path)!r}, but must be the path of a file")
    if _is_cut(file):
        raise ValueError(f"load_rules: {file.name} is shorter than its header says, but must be whole; compile it again")
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        must = "but must be a shared library for this processor"
        raise ValueError(f"load_rules: {file.name} is not loaded ({error}), {must}") from None
    try:
        address_of = library.agrad_rules
    except AttributeError:
        hint = "#include <agrad/rule_library.hpp> declares it"
        raise ValueError(f"load_rules: {file.name} has no function agrad_rules, but must have one; {hint}") from None
    _loaded.append(library)
    address_of.restype = ctypes.c_void_p
    functions = {}
    for row in add_rules(address_of() or 0, file.name):
        functions[row.name] = function_of(row)
        if row.stan:
            functions[row.stan] = functions[row.name]
    return SimpleNamespace(**functions)


def _is_cut(file: Path) -> bool:
    """Whether an ELF file of 64 bits is shorter than its segments: the system's loader would end the process by a signal."""
    with file.open("rb") as stream:
        head = stream.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False  # another format, which its loader refuses if it is damaged
        order = "<" if head[5] == 1 else ">"
        (start,) = struct.unpack_from(order + "Q", head, 32)
        size, count = struct.unpack_from(order + "HH", head, 54)
        stream.seek(start)
        table = stream.read(size * count)
    if size < 56 or len(table) < size * count:
        return True
    segments = [struct.unpack_from(order + "I4xQQQQ", table, size * k) for k in range(count)]
    return any(kind == 1 and offset + length > file.stat().st_size for kind, offset, _, _, length in segments)
