"""Lists the methods of solve_ivp and solve_many: one-step ones from C++ (solve/one_step/methods.ipp), and CVODES'."""

from __future__ import annotations

from typing import NamedTuple

from agrad._core import one_step_methods
from agrad._record.arguments import check_one_of

__all__ = ["METHODS", "MULTISTEP", "Method", "method_named"]


class Method(NamedTuple):
    """An entry of the table."""

    name: str
    text: str
    order: int = 0
    #: The stability border of an explicit method on the negative real axis: step size times decay rate; 0 of other methods.
    real_stability: float = 0.0
    #: Whether a one-step method solves linear equations with the Jacobian.
    has_factors: bool = False
    #: CVODES' number of a multistep method; 0 of one-step methods.
    code: int = 0

    @property
    def is_explicit(self) -> bool:
        """Whether the method is explicit, so that stability may limit the steps."""
        return self.real_stability > 0

    @property
    def is_multistep(self) -> bool:
        return self.code > 0


#: One-step methods by their names; "auto", the default, comes first.
METHODS = {row[0]: Method(*row) for row in sorted(one_step_methods(), key=lambda row: row[0] != "auto")}
#: CVODES' methods by their names.
MULTISTEP = {
    "Adams": Method("Adams", "Adams methods, for systems that are not stiff", code=1),
    "BDF": Method("BDF", "BDF, for stiff systems", code=2),
}
#: Replacements for SciPy's methods that agrad lacks: for stiff systems, for stiff and other systems, and of low order.
_REPLACEMENTS = {"Radau": "Rodas5P", "LSODA": "auto", "RK23": "Tsit5"}
_BY_NAME = MULTISTEP | METHODS | {name: METHODS[replacement] for name, replacement in _REPLACEMENTS.items()}


def method_named(function: str, name: str) -> tuple[Method, str]:
    """Returns the method for a name, and a note on a replacement for the result's message."""
    check_one_of(function, "method", name, _BY_NAME)
    method = _BY_NAME[name]
    return method, "" if method.name == name else f" {method.name!r} was used instead of {name!r}."
