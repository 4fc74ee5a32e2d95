"""Checks that includes point one way, as docs/design.md says.

base -> rules -> {tape, dual, program} -> functionals -> solve -> rows and bindings, and only solve/ sees SUNDIALS.
Run by ctest, or by hand: python tests/layers.py
"""

import re
import sys
from pathlib import Path

CPP = Path(__file__).resolve().parents[1] / "cpp"
HEADERS = CPP / "include"
LAYERS = [{"base"}, {"rules"}, {"tape", "dual", "program"}, {"functionals"}, {"solve"}]
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
SUNDIALS = re.compile(r"(sun[a-z]+|cvodes|idas|kinsol|arkode|nvector)/")
PYTHON = re.compile(r"(pybind11/|Python\.h)")


def folder_of(header: str) -> str:
    """Return the folder below agrad/ that holds the header "agrad/<folder>/..."; "" for the umbrellas beside them."""
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def complaints_about(path: Path) -> list[str]:
    """Return one sentence for every include of `path` that its layer forbids."""
    name = path.relative_to(HEADERS).as_posix()
    own = folder_of(name)
    found = []
    for include in INCLUDE.findall(path.read_text()):
        other = folder_of(include)
        if SUNDIALS.match(include) and own != "solve":
            found.append(f"{name} includes {include}; only solve/ may see SUNDIALS")
        elif PYTHON.match(include):
            found.append(f"{name} includes {include}; the headers know nothing of Python")
        elif include.startswith("agrad/") and not (HEADERS / include).exists():
            found.append(f"{name} includes {include}, which does not exist")
        elif include.startswith("agrad/") and own:
            if not other and include != "agrad/version.hpp":
                found.append(f"{name} includes the umbrella {include}")
            elif other and LEVEL[other] > LEVEL[own]:
                found.append(f"{name} includes {include}, which is of a higher layer")
        elif name == "agrad/agrad.hpp" and other == "solve":
            found.append(f"{name} includes {include}; agrad.hpp is all but solve")
    return found


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return a cycle of the graph as a list of nodes, the first repeated at the end; [] if there is none."""
    done: set[str] = set()

    def search(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for other in sorted(graph.get(node, ())):
            if ring := search(other, [*path, node]):
                return ring
        done.add(node)
        return []

    return next((ring for node in sorted(graph) if (ring := search(node, []))), [])


def folder_graph() -> dict[str, set[str]]:
    """Return which folders of headers include which others; folders of one layer may, but not in a circle."""
    graph: dict[str, set[str]] = {}
    for path in HEADERS.rglob("*.hpp"):
        own = folder_of(path.relative_to(HEADERS).as_posix())
        others = {folder_of(include) for include in INCLUDE.findall(path.read_text()) if include.startswith("agrad/")}
        graph.setdefault(own, set()).update(others - {own, ""})
    return graph


def main() -> int:
    """Print every complaint; return the number of them."""
    headers = sorted(HEADERS.rglob("*.hpp"))
    found = [complaint for path in headers for complaint in complaints_about(path)]
    found += [
        f"{path.relative_to(CPP)} includes {include}; rows know neither Python nor SUNDIALS"
        for path in sorted((CPP / "rows").glob("*.?pp"))
        for include in INCLUDE.findall(path.read_text())
        if SUNDIALS.match(include) or PYTHON.match(include) or folder_of(include) == "solve"
    ]
    unknown = {path.name for path in (HEADERS / "agrad").iterdir() if path.is_dir()} - LEVEL.keys()
    found += [f"agrad/{folder} has no layer; give it one in {Path(__file__).name}" for folder in sorted(unknown)]
    if ring := cycle(folder_graph()):
        found.append("these folders include each other in a circle: " + " -> ".join(ring))
    for complaint in found:
        print(f"layers: {complaint}")
    print(f"layers: {len(headers)} headers, {len(found)} complaints")
    return len(found)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
