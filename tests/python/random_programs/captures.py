"""Random functions with branches that read values beside their arguments, and random changes of these values."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CapturingProgram"]

#: Where values are kept: how code reads each, and how a number is put there.
HOLDERS: dict[str, tuple[str, Callable[[Any, float], None]]] = {
    "global": ("SCALE", lambda m, v: setattr(m, "SCALE", v)),
    "array": ("TABLE[1]", lambda m, v: m.TABLE.__setitem__(1, v)),
    "new array": ("OTHER[0]", lambda m, v: setattr(m, "OTHER", np.array([v, 1.0]))),
    "list": ("ITEMS[0]", lambda m, v: m.ITEMS.__setitem__(0, v)),
    "dict": ("NAMED['rate']['of']", lambda m, v: m.NAMED["rate"].__setitem__("of", v)),
    "attribute": ("SETTINGS.rate", lambda m, v: setattr(m.SETTINGS, "rate", v)),
    "attribute of an attribute": ("SETTINGS.inner.rate", lambda m, v: setattr(m.SETTINGS.inner, "rate", v)),
    "another module": ("PLACE.rate", lambda m, v: setattr(m.PLACE, "rate", v)),
    "helper": ("helper()", lambda m, v: setattr(m, "OF_HELPER", v)),
    "closure": ("kept", lambda m, v: m.set_kept(v)),
    "closure's array": ("table[0]", lambda m, v: m.table_of().__setitem__(0, v)),
    "integers": ("COUNTS[0]", lambda m, v: m.COUNTS.__setitem__(0, int(10 * v))),
}  # fmt: skip

_HEAD = """
import types
import numpy as np

class Settings:
    def __init__(self):
        self.rate = 0.5

SETTINGS = Settings()
SETTINGS.inner = Settings()
PLACE = types.ModuleType("place_of_captures")
PLACE.rate = SCALE = OF_HELPER = 0.5
TABLE, OTHER, ITEMS, NAMED, COUNTS = np.full(2, 0.5), np.full(2, 0.5), [0.5], {"rate": {"of": 0.5}}, np.array([5])

def helper():
    return OF_HELPER

def make():
    kept, table = 0.5, np.array([0.5])
    def set_kept(value):
        nonlocal kept
        kept = value
    def table_of():
        return table
    def f(x):
        total = np.sum(np.cos(x)) + 0.0 * kept * table[0]
"""
_BRANCH = """        if x[{}] > 0:
            total = total + {}
        else:
            total = total - {}
"""
_TERMS = ("np.sin({x} * {v})", "{x}**2 * {v}", "np.exp(-{x} * {x}) / (1 + {v}**2)", "{v} - {x}", "np.tanh({x} + {v})")


class CapturingProgram:
    """A function of a vector, as source code, with branches by the signs of entries.

    Parameters
    ----------
    seed : int
        What the code is drawn from.
    """

    size = 3

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.code = _HEAD + "".join(map(self._branch, range(self.size))) + "        return total\n"
        self.code += "    return f, set_kept, table_of\n\nf, set_kept, table_of = make()\n"
        self.module = self._made()
        self.holders = [name for name, (read, _) in HOLDERS.items() if read in self.code.partition("def f(x)")[2]]

    def _branch(self, i: int) -> str:
        terms = []
        for _ in range(2):
            read = HOLDERS[str(self.rng.choice(list(HOLDERS)))][0]
            terms.append(_TERMS[int(self.rng.integers(len(_TERMS)))].format(x=f"x[{i}]", v=read))
        return _BRANCH.format(i, *terms)

    def _made(self) -> types.ModuleType:
        module = types.ModuleType(f"captures_of_test_{self.seed}")
        exec(self.code, module.__dict__)
        return module

    @property
    def f(self) -> Any:
        return self.module.f

    def change(self) -> None:
        """Puts another number in a random place that the function reads."""
        name = self.holders[int(self.rng.integers(len(self.holders)))]
        HOLDERS[name][1](self.module, float(np.round(self.rng.uniform(0.6, 3.0), 2)))

    def point(self) -> Any:
        return self.rng.uniform(-1.5, 1.5, self.size)

    def frozen(self) -> Any:
        """The function with copies of the present values."""
        other = self._made()
        for name in ("SCALE", "TABLE", "OTHER", "ITEMS", "NAMED", "COUNTS", "OF_HELPER"):
            setattr(other, name, copy.deepcopy(getattr(self.module, name)))
        other.SETTINGS.rate, other.SETTINGS.inner.rate = self.module.SETTINGS.rate, self.module.SETTINGS.inner.rate
        other.PLACE.rate = self.module.PLACE.rate
        cells = dict(zip(self.f.__code__.co_freevars, self.f.__closure__, strict=True))
        other.set_kept(cells["kept"].cell_contents)
        other.table_of()[0] = cells["table"].cell_contents[0]
        return other.f
