"""Checks that imports of python/agrad point one way: among its rooms, which are its packages, and among its files.

Every import counts: of a module as it is read, within a function, and for type checkers alone. Those of _core's stub do not,
which names the classes that Python attaches to the compiled part. Called by layers.py.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "agrad"
#: Rooms and the modules beside them: each imports from those before it alone. "" is agrad itself, which imports them all.
ORDER = [
    {"_requirements", "_processor"},
    {"_core"},
    {"_rule_function"},
    {"_record", "_rule_libraries", "_info"},
    {"_stan", "_complex", "_flags"},
    {"_numpy", "_loops"},
    {"linalg", "special", "_ode", "_transforms", "_random"},
    {"_dae", "_many", "_constraints", "_functionals", "random", "_bridges"},
    {"_stats", "constraints", "_posterior"},
    {"stan", "stats"},
    {""},
    {"demo", "__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def modules() -> dict[str, Path]:
    """Return the files by the names of their modules."""
    names = {path: ".".join(("agrad", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()} | {"agrad._core": PACKAGE / "_core.pyi"}


def room_of(module: str) -> str:
    """Return the part of a module's name behind "agrad."; "" for agrad itself."""
    return module.partition(".")[2].partition(".")[0]


def imports_of(name: str, known: dict[str, Path]) -> set[str]:
    """Return the modules of agrad that a module imports anywhere."""
    package = name.split(".") if known[name].name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(known[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{each.name}" if f"{base}.{each.name}" in known else base for each in node.names}
    return (found & known.keys()) - {name}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a circle of the graph as a list of nodes, the first repeated at the end; [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))  # which goes from what is imported to who imports it
    return []


def complaints() -> list[str]:
    """Return one sentence for everything that is wrong with the imports."""
    known = modules()
    files = {name: imports_of(name, known) for name in known if name != "agrad._core"}
    rooms: dict[str, set[str]] = {room_of(name): set() for name in files}
    found = []
    for name, others in sorted(files.items()):
        own = room_of(name)
        if others and known[name].name == "__init__.py" and own.startswith("_"):
            found.append(f"{name} imports {min(others)}; the file of a room holds its docstring only")
        for other in sorted(others):
            its = room_of(other)
            if its != own:
                rooms[own].add(its)
                if own in LEVEL and its in LEVEL and LEVEL[its] >= LEVEL[own]:
                    found.append(f"{name} imports {other}, which does not come before it")
    found += [f"{room} of python/agrad has no place in the order of rooms" for room in sorted(rooms.keys() - LEVEL.keys())]
    for kind, graph in {"rooms": rooms, "files": files}.items():
        if ring := circle(graph):
            found.append(f"these {kind} of python/agrad import each other in a circle: " + " -> ".join(ring))
    return found
