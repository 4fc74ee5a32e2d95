"""Where agrad has Stan's functions: the list of tests/reference/stan_functions.tsv, read, evaluated and written as tables.

The list has a line for each function: its family, its name, an expression in Python and one in C++. An empty expression
stands for the name itself, so that a function which agrad gets under Stan's name needs no change in Python; "-" in the column
for C++ means that agrad's C++ has neither. Run ``python docs/stan_names.py`` to write the column for C++ anew (it compiles the
names), and ``python docs/tables.py`` to write the page.
"""

import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.special

import agrad as ag
from agrad import stan

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "reference" / "stan_functions.tsv"
#: Why agrad does without a function, in Python and, where the list says so, in C++.
WITHOUT = {
    "fatal_error": "raise an exception",
    "reject": "raise an exception",
    "generate_laplace_options": "options are arguments by name",
    "complex_schur_decompose": "vectors of close eigenvalues have no derivative",
    "complex_schur_decompose_t": "as `complex_schur_decompose`",
    "complex_schur_decompose_u": "as `complex_schur_decompose`",
    "hypergeometric_2F1": "no sum is known to us that keeps all digits for every sign of the parameters",
    "hypergeometric_3F2": "as `hypergeometric_2F1`",
    "hypergeometric_pFq": "as `hypergeometric_2F1`",
}


class Name(NamedTuple):
    """A line of the list."""

    family: str
    name: str
    python: str
    cpp: str

    def in_python(self) -> str:
        """Return the expression, which is the name where agrad has it; empty where there is none."""
        if self.name in stan.__all__:
            return f"stan.{self.name}"
        return f"ag.{self.name}" if self.name in ag.__all__ else self.python

    def in_cpp(self) -> str:
        """Return the expression, which is the name where there is none in the list; empty where C++ has neither."""
        return "" if self.cpp == "-" else self.cpp or f"agrad::{self.name}"


def read() -> list[Name]:
    """Return the lines of the list."""
    return [Name(*line.split("\t")) for line in LIST.read_text().splitlines()[1:]]


def variables(x: Any, A: Any) -> dict[str, Any]:  # noqa: N803
    """Return what the expressions in Python are made of, from a vector of three and a 3 x 3 matrix, which may be recorded."""
    lower = np.tril(A)
    of_python = {"ag": ag, "stan": stan, "np": np, "special": scipy.special, "i": 1, "j": 2}
    return of_python | {"x": x, "y": x**2, "A": A, "B": A @ A, "L": lower, "S": lower @ lower.T, "s": x[0], "t": x[1]}


def _table(rows: list[Name]) -> str:
    lines = ["| Stan | Python | C++ |", "| --- | --- | --- |"]
    for row in rows:
        columns = [f"`{text}`" if text else "" for text in (row.name, row.in_python(), row.in_cpp())]
        if not columns[1] and row.name in WITHOUT:
            columns[1] = f"not there: {WITHOUT[row.name]}"
        lines.append("| " + " | ".join(column.replace("|", r"\|") for column in columns) + " |")
    return "\n".join(lines)


def tables() -> str:
    """Return a table for each family, with its name as heading."""
    rows = read()
    families = dict.fromkeys(row.family for row in rows)
    return "\n\n".join(f"### {family}\n\n{_table([row for row in rows if row.family == family])}" for family in families)


def counts() -> str:
    """Return how many functions the list has, and of how many agrad has the name or an expression."""
    rows = read()
    named = sum(hasattr(ag, row.name) for row in rows)
    python, cpp = (
        sum(bool(text) for text in column) for column in zip(*((r.in_python(), r.in_cpp()) for r in rows), strict=True)
    )
    declared = sum(not row.cpp for row in rows)
    return (
        f"Of {len(rows)} functions Python has {python}, {named} of them under Stan's name and {python - named} by an"
        f" expression; C++ has {cpp}, {declared} of them under Stan's name."
    )


_PROGRAM = """#include <agrad/dae.hpp>
#include <agrad/ode.hpp>
#include <agrad/stan.hpp>
#include <iostream>
namespace names {{ {names} }}
void expressions(Eigen::MatrixXd A, Eigen::MatrixXd B, Eigen::MatrixXd L, Eigen::MatrixXd S, Eigen::VectorXd x,
                 Eigen::VectorXd y, double s, double t, int i, int j) {{
{expressions}
}}
"""


def eigen_include() -> Path | None:
    """Return where Eigen's headers are."""
    prefixes = [
        Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix",
        os.environ.get("CONDA_PREFIX", "/usr"),
        "/usr",
        "/usr/local",
    ]
    found = (Path(prefix) / "include" / "eigen3" for prefix in prefixes)
    return next((path for path in found if (path / "Eigen").is_dir()), None)


def compiler_errors(names: list[str], expressions: list[str], eigen: Path) -> list[str]:
    """Return what the compiler says of a program that uses the names, of namespace agrad::stan, and the expressions."""
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", "-w", "-DAGRAD_COMPILED", "-fmax-errors=0"]
    if "clang" in subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout:
        command[-1] = "-ferror-limit=0"
    solvers = Path(ag.__file__).parent / "lib" / "agrad" / "sundials" / "include"
    include = ["-I", str(ROOT / "cpp" / "include"), "-isystem", str(eigen), "-isystem", str(solvers)]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "names.cpp"
        names, expressions = [f"using agrad::stan::{name};" for name in names], [f"(void)({each});" for each in expressions]
        source.write_text(_PROGRAM.format(names="\n".join(names), expressions="\n".join(expressions)))
        done = subprocess.run([*command, *include, str(source)], capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error" in line]


def undeclared(errors: list[str]) -> set[str]:
    """Return the names that the compiler does not find."""
    found = re.findall(r"[‘'](?:agrad::stan::)?(\w+)[’'] has not been declared|no member named '(\w+)'", "\n".join(errors))
    return {first or second for first, second in found}


def possible_names() -> set[str]:
    """Return the names that agrad's headers might declare: an error takes the compiler 0.1 s, so others are not tried."""
    headers = "\n".join(path.read_text() for path in (ROOT / "cpp" / "include").rglob("*.hpp"))
    return set(re.findall(r"\b\w+(?=[({;])", headers))


def main() -> None:
    """Write the column for C++ anew: empty where agrad declares the name, and "-" where there is no expression either."""
    eigen = eigen_include()
    if eigen is None:
        raise SystemExit('stan_names: Eigen was not found; pip install "agrad[cpp]"')
    rows, possible = read(), possible_names()
    given = [row.cpp for row in rows if row.cpp not in ("", "-")]
    others = [text.removeprefix("agrad::") for text in given if re.fullmatch(r"agrad::\w+", text)]  # other functions' names
    if errors := compiler_errors(others, [text for text in given if text.removeprefix("agrad::") not in others], eigen):
        raise SystemExit("\n".join(errors))
    tried = [row.name for row in rows if row.name in possible]
    missing = {row.name for row in rows} - {*tried} | undeclared(compiler_errors(tried, [], eigen))
    head = LIST.read_text().splitlines()[0]
    columns = [row.cpp.strip("-") if row.name not in missing and not row.cpp.strip("-") else row.cpp or "-" for row in rows]
    lines = ["\t".join((*row[:3], cpp)) for row, cpp in zip(rows, columns, strict=True)]
    LIST.write_text("\n".join([head, *lines]) + "\n")


if __name__ == "__main__":
    main()
