"""Who solves which problem, by which method, at which tolerances."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
EQUAL = 1e-6  # the tolerance at which equal settings are compared
ENOUGH = 1e-6  # an error of the gradient, after which tighter tolerances are left out
LONGEST = 20.0  # seconds of a call, after which they are left out, too


@dataclass
class Way:
    """A way to solve a problem: who it is, what the C++ program, agrad or a driver calls the method, and for which problems."""

    who: str
    method: str
    problems: str


WAYS = [
    Way("by hand", "by-hand-dense", "P1 P2 P3_4 P3_16"),
    Way("by hand", "by-hand-banded", "P3_16 P3_64 P3_256 P4_32 P4_128 P4_512"),
    Way("by hand", "by-hand-adams", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++", "tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++", "dop853", "P1 P3_4"),
    Way("C++", "rodas4", "P2"),
    Way("C++", "rodas4-banded", "P4_32 P4_128"),
    Way("C++ recorded", "recorded-tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++ recorded", "recorded-dop853", "P1 P3_4"),
    Way("C++ recorded", "recorded-rodas4", "P2"),
    Way("C++ recorded", "recorded-rodas4-banded", "P4_32 P4_128 P4_512"),
    Way("Python", "Tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("Python", "DOP853", "P1 P3_4"),
    Way("Python", "Rodas4", "P2 P4_32 P4_128 P4_512"),
]
EQUAL_WAYS = [
    Way("C++", "bdf", "P1 P2 P3_4 P3_16"),
    Way("C++ recorded", "recorded-bdf", "P1 P2 P3_4 P3_16"),
    Way("Python", "BDF", "P1 P2 P3_4 P3_16"),
]

#: The drivers of other systems.
DRIVERS = {"CasADi": "run_casadi.py", "diffrax": "run_diffrax.py", "Stan Math": "run_stan.py"}
#: What they call their methods; without what takes minutes.
PEER_WAYS = [
    Way("CasADi", "sx", "P1 P2 P3_4 P3_16 P3_64 P3_256 P4_32 P4_128 P4_512"),
    Way("CasADi", "mx", "P1 P2 P3_4 P3_16 P3_64 P3_256 P4_32 P4_128 P4_512"),
    Way("CasADi", "sx-jit", "P1 P2 P3_4 P3_16 P3_64 P3_256 P4_32 P4_128 P4_512"),
    Way("CasADi", "sx-adams", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("CasADi", "sx-jit-adams", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("diffrax", "recursive", "P1 P2 P3_4 P3_16 P3_64 P3_256 P4_32 P4_128"),
    Way("diffrax", "backsolve", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("diffrax", "forward", "P1 P2 P3_4 P3_16"),
    Way("Stan Math", "adjoint", "P1 P2 P3_4 P3_16 P3_64 P3_256 P4_32 P4_128"),
    Way("Stan Math", "adjoint-adams", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("Stan Math", "bdf", "P1 P2 P3_4 P3_16 P4_32"),
    Way("Stan Math", "adams", "P1 P3_4 P3_16"),
    Way("Stan Math", "rk45", "P1 P3_4 P3_16 P3_64"),
]
