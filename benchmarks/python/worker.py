"""One row of one system, in a process of its own; run.py starts it.

    python worker.py SYSTEM --list                          # versions and rows
    python worker.py SYSTEM --check                         # errors of all gradients, or why there are none; nothing is timed
    python worker.py SYSTEM TASK CASE FORM VARIANT          # measures a row

The last line of what it prints is the result, as JSON.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
from collections.abc import Callable
from typing import Any

import measure
import numpy as np
import reference
from cases import CASES

from loops import chain, elementwise

_RECURSION = 1_000_000  # some systems walk their graphs recursively
RECORDED = {"scalars": 0, "arrays of 10": 10}
SCHEDULED = {"1000 operations": 1000, "10 000 operations": 10_000, "100 000 operations": 100_000}
LOOP, VECTOR = 200_000, 1_000_000  # operations and entries of the rows about memory


def rows(driver: Any) -> list[list[str]]:
    """All rows of a system as task, case, form, variant."""
    own = [["gradient", case.name, form, variant] for case in CASES.values() for variant, form in driver.variants(case)]
    for case in CASES.values():
        pairs = dict(reversed(driver.variants(case)))
        for task in case.second_order:
            own += [[task, case.name, pairs[variant], variant] for variant in driver.SECOND_ORDER]
    own += [["record", case, "numpy", driver.RECORDING] for case in RECORDED]
    if driver.COMPILING:
        lengths = [case for case, length in SCHEDULED.items() if length <= driver.LONGEST_LOOP]
        own += [["first", case, "numpy", driver.COMPILING] for case in lengths]
    if driver.LIBRARY.logsumexp is not None:
        variants = dict.fromkeys([driver.COMPILING or driver.RECORDING, driver.RECORDING])
        cases = ["loop", "vector"] if LOOP <= driver.LONGEST_LOOP else ["vector"]
        own += [["memory", case, "numpy", variant] for case in cases for variant in variants]
    return own


def _timing(call: Callable[[], Any]) -> dict[str, Any]:
    timing = measure.timed(call)
    return {"median": timing.median, "least": timing.least, "batches": timing.batches, "calls": timing.calls}


def _gradient(driver: Any, name: str, form: str, variant: str) -> dict[str, Any]:
    case = CASES[name]
    before = measure.begin_memory()
    if form == "by_hand":
        data, point = case.make()
        by_hand = case.by_hand(data)
        build, call = 0.0, lambda: by_hand(point)
    else:
        function, point = case.function(form, driver.LIBRARY)
        build, call = measure.first_call(lambda: driver.gradient(function, point, variant))
    first, (value, gradient) = measure.first_call(call)
    memory = measure.peak() - before
    result = {"build": build, "first": first, "memory": memory, **_timing(call)}
    right = reference.reference(case)
    result["reference_error"] = right["error"]
    result["error"] = reference.relative_error(gradient, right["gradient"])
    if form not in ("density", "by_hand"):  # a density leaves out constants
        result["value_error"] = abs(float(value) - right["value"]) / abs(right["value"])
    return result


def check(driver: Any) -> dict[str, Any]:
    """The relative error of every gradient, or the message of the exception in its place."""
    found: dict[str, Any] = {}
    for task, name, form, variant in rows(driver):
        if task != "gradient" or form == "by_hand":
            continue
        try:
            function, point = CASES[name].function(form, driver.LIBRARY)
            gradient = driver.gradient(function, point, variant)()[1]
            found[f"{name} {form} {variant}"] = reference.relative_error(gradient, reference.reference(CASES[name])["gradient"])
        except Exception as error:
            found[f"{name} {form} {variant}"] = f"{type(error).__name__}: {error}"
    return found


def _second_order(driver: Any, task: str, name: str, form: str, variant: str) -> dict[str, Any]:
    case = CASES[name]
    function, point = case.function(form, driver.LIBRARY)
    vector = reference.vector_for(case)
    if task == "product":
        build, call = measure.first_call(lambda: driver.product(function, point, vector, variant))
    else:
        build, call = measure.first_call(lambda: driver.hessian(function, point, variant))
    first, given = measure.first_call(call)
    given = np.array(given)
    right = reference.product_reference(case) if task == "product" else reference.hessian_reference(case)
    error = reference.relative_error(given, right)
    return {"build": build, "first": first, "error": error, **_timing(call)}


def _record(driver: Any, name: str, variant: str) -> dict[str, Any]:
    """Seconds an operation: in the loop itself, and of the whole call; what a call costs anyhow drops out of a difference."""
    figures = {}
    for operations in (500, 1000):
        spent: list[float] = []
        function, point = chain(driver.LIBRARY, operations, RECORDED[name], spent)
        if variant == "sx":  # CasADi builds its graph and its gradient anew
            whole = measure.timed(lambda f=function, p=point: driver.gradient(f, p, variant), limit=3.0).median
        else:
            whole = measure.timed(driver.gradient(function, point, variant), limit=3.0).median
        figures[operations] = whole, statistics.median(spent)
    whole = (figures[1000][0] - figures[500][0]) / 500
    return {"median": whole, "loop": figures[1000][1] / 1000}


def _first(driver: Any, name: str, variant: str) -> dict[str, Any]:
    """Seconds of building and the first call, anew each time, the median of five where that does not take long."""
    figures: list[float] = []
    begin = measure.processor_time()
    while not figures or (len(figures) < 5 and measure.processor_time() - begin < 10):
        function, point = chain(driver.LIBRARY, SCHEDULED[name], 0, [])
        figures.append(measure.first_call(lambda f=function, p=point: driver.gradient(f, p, variant)())[0])
    return {"median": statistics.median(figures), "least": min(figures), "batches": len(figures)}


def _memory(driver: Any, name: str, variant: str) -> dict[str, Any]:
    """Megabytes that the first value and gradient take, and those of the values that a sweep needs."""
    if name == "loop":
        function, point = chain(driver.LIBRARY, LOOP, 0, [])
        needed = 8 * LOOP / 2**20
    else:
        function, point = elementwise(driver.LIBRARY, VECTOR)
        needed = 6 * 8 * VECTOR / 2**20
    small, start = elementwise(driver.LIBRARY, 10)
    driver.gradient(small, start, variant)()  # what a system loads at its first call is none of the function's
    before = measure.begin_memory()
    call = driver.gradient(function, point, variant)
    call()
    memory = measure.peak() - before
    return {"memory": memory, "needed": needed, "median": memory / needed}


def main() -> None:
    """Measure what the command line says."""
    sys.setrecursionlimit(_RECURSION)
    driver = importlib.import_module(f"drivers.{sys.argv[1]}")
    if sys.argv[2] == "--list":
        titles = {case.name: case.title for case in CASES.values()}
        print(json.dumps({"versions": driver.VERSIONS, "rows": rows(driver), "titles": titles}))
        return
    if sys.argv[2] == "--check":
        print(json.dumps(check(driver)))
        return
    task, case, form, variant = sys.argv[2:6]
    if task == "gradient":
        result = _gradient(driver, case, form, variant)
    elif task in ("product", "hessian"):
        result = _second_order(driver, task, case, form, variant)
    else:
        result = {"record": _record, "first": _first, "memory": _memory}[task](driver, case, variant)
    print(json.dumps({**result, "peak": measure.peak()}))


if __name__ == "__main__":
    main()
