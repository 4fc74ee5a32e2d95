"""Problems that say whether a gradient through a differential equation is right: their references share no code with agrad.

`problem.py` says what a problem is, the families follow, `references.py` computes gradients, and `references.json` has them.
`python -m gradient_problems` in tests/python computes them again.
"""

import json
from pathlib import Path
from typing import Any

from gradient_problems import linear, nonlinear, parabolic, pharmacology, stiff
from gradient_problems.problem import HOPELESS, Problem

__all__ = ["HOPELESS", "PROBLEMS", "REFERENCES", "Problem"]

STORED = Path(__file__).parent / "references.json"
PROBLEMS = {
    problem.name: problem for family in (linear, parabolic, pharmacology, nonlinear, stiff) for problem in family.PROBLEMS
}
#: For each problem its "gradient", "how" it was made, the "agreement" of two computations, how far "off_published" states its
#: solution ends, and the "stiffness": the largest spectral radius times the span.
REFERENCES: dict[str, dict[str, Any]] = json.loads(STORED.read_text()) if STORED.exists() else {}
