"""Compute the references again: python -m gradient_problems [NAME...], in tests/python; all of them take some minutes."""

import json
import sys
import time

import numpy as np

from gradient_problems import PROBLEMS, REFERENCES, STORED
from gradient_problems.references import gradient_and_agreement, stiffness

for name in sys.argv[1:] or PROBLEMS:
    problem, start = PROBLEMS[name], time.perf_counter()
    stiff = stiffness(problem)
    gradient, agreement, how, states = gradient_and_agreement(problem, stiff)
    line = (
        f"{name}: {agreement:.1e} between two computations, stiffness {stiff:.2g}, {time.perf_counter() - start:.0f} s; {how}"
    )
    if name in REFERENCES:
        line += f"; {problem.error(gradient, REFERENCES[name]['gradient']):.1e} from what was stored"
    if problem.published is not None:
        # The first state of E5 ends at 1e-290.
        off = np.max(np.abs(states[-1] - problem.published) / np.maximum(np.abs(problem.published), 1e-10 * problem.scales))
        line += f"; {off:.1e} from the published states"
    print(line, flush=True)
    REFERENCES[name] = {
        "how": how,
        "agreement": float(f"{agreement:.1e}"),
        "stiffness": float(f"{stiff:.3g}"),
        **({} if problem.published is None else {"off_published": float(f"{off:.1e}")}),
        "gradient": [float(f"{entry:.15g}") for entry in gradient],
    }
    lines = [f"{json.dumps(each)}: {json.dumps(REFERENCES[each])}" for each in PROBLEMS if each in REFERENCES]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
