"""Checks that includes point one way, as docs/design.md says.

The order is that of LAYERS below, and within program/ and solve/ from room to room. Neither rooms nor headers include each
other in a circle, only two rooms of solve/ see SUNDIALS, cpp/compiled includes each .ipp file once, virtual functions are
declared inline where their definitions are, files and lines are short, and folders have few files.
Run by ctest, or by hand: python tests/layers.py
"""

import re
import sys
from collections import Counter
from pathlib import Path

import layers_python

CPP = Path(__file__).resolve().parents[1] / "cpp"
HEADERS = CPP / "include"
# From the lowest to the highest. Where a folder within another is listed, all in there are; others are part of the one around.
LAYERS = [
    {"base"},
    {"rules", "rules/arrays", "rules/density", "rules/linalg", "rules/fourier"},
    {"rules/gamma", "rules/beta", "rules/bessel", "rules/error", "rules/special", "rules/spectra"},
    {"rules/lists"},
    {"tape", "dual"},
    {"program/machine"},
    {"program/recording"},
    {"program/tiles"},
    {"program", "program/kernels"},
    {"probability", "constraints", "gaussian_processes"},
    {"random"},
    {"families/tails", "families/shared"},
    {"families", "families/line", "families/positive", "families/bounded", "families/counts", "families/multivariate"},
    {"random/vectors"},
    {"program/schedule", "program/store", "program/compose"},
    {"program/sparse", "program/inspect", "program/loops"},
    {"program/derive"},
    {"functionals/search"},
    {"functionals"},
    {"solve/system"},
    {"solve/system/functor", "solve/system/jumps", "solve/algebra"},
    {"solve/system/program", "solve/solver"},
    {"solve/one_step", "solve/sundials"},
    {"solve/cvodes", "solve/events"},
    {"solve/dae", "solve/steady"},
    {"solve/posed"},
    {"solve/record"},
    {"solve"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
FOLDERS_OF_ROOMS = {room.rpartition("/")[0] for room in LEVEL}
SEES_SUNDIALS = {"solve/sundials", "solve/dae"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
DECLARATION = re.compile(r"(?<=[;{}:])\s[^;{}:]*(?:::[^;{}:]+)*\([^;{}]*\)[^;{}()]*;")
VIRTUAL = re.compile(r"\bvirtual\b|\)[^()]*\b(override|final)\b")
SUNDIALS = re.compile(r"(sun[a-z]+|cvodes|idas|kinsol|arkode|nvector)/")
PYTHON = re.compile(r"(pybind11/|Python\.h)")
SOURCES = {".hpp", ".ipp", ".cpp", ".py"}
MOST_LINES, MOST_COLUMNS, MOST_FILES = 400, 128, 30


def room_of(header: str) -> str:
    """Return the listed room that holds "agrad/<folder>/..."; "" for the umbrellas, its folder where none is listed."""
    folder = room = header.rpartition("/")[0].removeprefix("agrad").removeprefix("/")
    while room and room not in LEVEL:
        if room.rpartition("/")[0] in FOLDERS_OF_ROOMS:
            return folder
        room = room.rpartition("/")[0]
    return room


def complaints_about(path: Path) -> list[str]:
    """Return one sentence for every include of `path` that its layer forbids."""
    name = path.relative_to(HEADERS).as_posix()
    own = room_of(name)
    if own and own not in LEVEL:
        return [f"{name}: agrad/{own} has no layer; give it one in {Path(__file__).name}"]
    found = []
    for include in INCLUDE.findall(path.read_text()):
        other = room_of(include) if include.startswith("agrad/") else ""
        if SUNDIALS.match(include) and own not in SEES_SUNDIALS:
            found.append(f"{name} includes {include}; only {', '.join(sorted(SEES_SUNDIALS))} may see SUNDIALS")
        elif PYTHON.match(include):
            found.append(f"{name} includes {include}; the headers know nothing of Python")
        elif include.startswith("agrad/") and not (HEADERS / include).exists():
            found.append(f"{name} includes {include}, which does not exist")
        elif include.startswith("agrad/") and own and not other and include != "agrad/version.hpp":
            found.append(f"{name} includes the umbrella {include}")
        elif own and LEVEL.get(other, 0) > LEVEL[own]:
            found.append(f"{name} includes {include}, which is of a higher layer")
        elif name == "agrad/agrad.hpp" and other.startswith("solve"):
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


def agrad_includes(text: str) -> set[str]:
    """Return the headers of agrad that a text includes."""
    return {include for include in INCLUDE.findall(text) if include.startswith("agrad/")}


def rooms_of(headers: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return which rooms include which others, from what each header includes; within a layer they may, but not in a circle."""
    graph: dict[str, set[str]] = {}
    for header, includes in headers.items():
        if room := room_of(header):
            graph.setdefault(room, set()).update({room_of(include) for include in includes} - {room, ""})
    return graph


def complaints_about_definitions() -> list[str]:
    """Return one sentence for every .ipp file that the compiled library does not compile exactly once."""
    compiled = [include for path in (CPP / "compiled").glob("*.cpp") for include in INCLUDE.findall(path.read_text())]
    names = {path.relative_to(HEADERS).as_posix() for path in HEADERS.rglob("*.ipp")}
    return [
        f"{name} is included {compiled.count(name)} times by cpp/compiled, not once"
        for name in sorted(names)
        if compiled.count(name) != 1
    ]


def complaints_about_virtual_functions(name: str, text: str) -> list[str]:
    """Return one sentence for each virtual function that is declared without `inline` or AGRAD_INLINE.

    The first such function of a class is its key function: each file that includes the definition compiles the table of virtual
    functions and all that the table leads to, used or not (with the headers of the solvers, for 45 s).
    """
    declarations = (found[0] for found in DECLARATION.finditer(re.sub(r"//.*", "", text)))
    return [
        f"{name} declares a virtual function without inline or AGRAD_INLINE: {' '.join(declaration.split())}"
        for declaration in declarations
        if VIRTUAL.search(declaration) and not re.search(r"= (0|default|delete);|\binline\b|AGRAD_INLINE", declaration)
    ]


def sources() -> list[Path]:
    """Return all sources of the project."""
    folders = [CPP, *(CPP.parent / name for name in ("python", "tests", "benchmarks", "docs"))]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES)


def complaints_about_rooms() -> list[str]:
    """Return one sentence for each folder that has more files than it may have."""
    folders = Counter(path.parent.relative_to(CPP.parent).as_posix() for path in sources())
    return [
        f"{folder} has {files} files, more than {MOST_FILES}; redraw the room before adding to it"
        for folder, files in folders.items()
        if files > MOST_FILES
    ]


def complaints_about_sizes() -> list[str]:
    """Return one sentence for each file that is too long, and each line of C++, whose comments the formatter leaves."""
    found = []
    for path in sources():
        name, lines = path.relative_to(CPP.parent).as_posix(), path.read_text().splitlines()
        if len(lines) > MOST_LINES:
            found.append(f"{name} has {len(lines)} lines, more than {MOST_LINES}")
        if path.suffix != ".py":
            found += [
                f"{name}:{number} has {len(line)} columns, more than {MOST_COLUMNS}"
                for number, line in enumerate(lines, 1)
                if len(line) > MOST_COLUMNS
            ]
    return found


def main() -> int:
    """Print every complaint; return the number of them."""
    paths = sorted(HEADERS.rglob("*.[hi]pp"))
    texts = {path.relative_to(HEADERS).as_posix(): path.read_text() for path in paths}
    rooms = rooms_of({header: agrad_includes(text) for header, text in texts.items()})
    # What a header includes behind its code are parts of it, which begin by including it.
    headers = {header: agrad_includes(text.partition("\nnamespace ")[0]) for header, text in texts.items()}
    found = [complaint for path in paths for complaint in complaints_about(path)]
    found += [
        f"{path.relative_to(CPP)} includes {include}; rows know neither Python nor SUNDIALS"
        for path in sorted((CPP / "rows").glob("*.?pp"))
        for include in INCLUDE.findall(path.read_text())
        if SUNDIALS.match(include) or PYTHON.match(include) or room_of(include).startswith("solve")
    ]
    found += [
        f"these {what} include each other in a circle: " + " -> ".join(ring)
        for what, graph in (("rooms", rooms), ("headers", headers))
        if (ring := cycle(graph))
    ]
    found += complaints_about_definitions()
    found += complaints_about_rooms()
    found += complaints_about_sizes()
    found += [complaint for name, text in texts.items() for complaint in complaints_about_virtual_functions(name, text)]
    found += layers_python.complaints()
    for complaint in found:
        print(f"layers: {complaint}")
    arrows = sum(map(len, rooms.values()))
    print(f"layers: {len(paths)} files in {len(rooms)} rooms, {arrows} arrows between them, {len(found)} complaints")
    return len(found)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
