"""The pages of the univariate families: one for each, with examples that run, and an index of all names."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad import random
from agrad._core import density_rows, quantile_rows
from agrad._stats.families import families as scipy_families
from native_tools import require_compiler_and_cmake, run

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.thread_unsafe(reason="doctest captures the output of the whole process")

ROOT = Path(__file__).resolve().parents[3]
INDEX = ROOT / "docs" / "distributions.md"


def module(name):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The written pages, with one that is of no family any more."""
    path = tmp_path_factory.mktemp("distributions")
    (path / "of_old.md").write_text("# Of old\n")
    module("families").write(path)
    return path


def families_of_rows():
    return {
        re.sub(r"_(lpdf|lpmf|cdf|lcdf|lccdf|lbetween|qf|cqf)$", "", row.name) for row in [*density_rows(), *quantile_rows()]
    }


def test_every_family_has_a_page_with_all_its_functions(folder):
    assert {page.stem for page in folder.glob("*.md")} == families_of_rows()
    for row in [*density_rows(), *quantile_rows()]:
        text = (folder / f"{row.name.rpartition('_')[0]}.md").read_text()
        assert f"| `{row.name}({', '.join(name for name, _ in row.arguments)})` |" in text
    for family in scipy_families():
        assert f"| `{family.name}({', '.join(family.parameters)})` |" in (folder / f"{family.rule}.md").read_text()


def test_examples_print_what_pages_say(folder):
    for page in folder.glob("*.md"):
        (example,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        runner = doctest.DocTestRunner()
        runner.run(doctest.DocTestParser().get_doctest(example, {}, page.stem, None, 0))
        attempted = runner.summarize(verbose=False)
        assert attempted.failed == 0
        assert attempted.attempted >= 2


def test_some_examples_in_cpp_print_what_pages_say(folder, tmp_path):
    require_compiler_and_cmake()
    eigen = module("stan_names").eigen_include()
    if eigen is None:
        pytest.skip("C++ is not built: Eigen was not found")
    body, said = "", []
    for page in sorted(folder.glob("*.md"))[::10]:
        (example,) = re.findall(r"^```cpp\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        said += re.findall(r"// (.*)", example)
        body += f"{{\n{re.sub('^#include.*', '', example, flags=re.MULTILINE)}}}\n"
    head = "#include <agrad/probability.hpp>\n#include <iostream>\n"
    (tmp_path / "examples.cpp").write_text(f"{head}int main() {{\n{body}}}\n")
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O0", "-I", ROOT / "cpp" / "include", "-isystem", eigen]
    run(*command, tmp_path / "examples.cpp", "-o", tmp_path / "examples")
    printed = subprocess.run([tmp_path / "examples"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == said


def test_pictures_are_there_and_no_others_are_wanted(folder):
    wanted = {target for page in folder.glob("*.md") for target in re.findall(r"!\[[^]]*\]\((.*?)\)", page.read_text())}
    assert wanted == {picture.name for picture in folder.glob("*.png")}
    assert {f"{name}.png" for name in families_of_rows()} <= wanted


def test_pages_that_are_not_different_stay(tmp_path):
    """So that Sphinx does not read them again."""
    store = module("families").store
    store({"a.md": "a", "b.md": "b", "c.md": "c"}, tmp_path)
    for name in ("a.md", "b.md"):
        os.utime(tmp_path / name, ns=(1, 1))
    store({"a.md": "a", "b.md": "other"}, tmp_path)
    assert (tmp_path / "a.md").stat().st_mtime_ns == 1
    assert (tmp_path / "b.md").read_text() == "other"
    assert not (tmp_path / "c.md").exists()


def test_the_index_has_all_names():
    index = INDEX.read_text()
    drawn = {f"{name}_rng" for name in families_of_rows()} & set(random.__all__)
    for name in [*(row.name for row in density_rows()), *(row.name for row in quantile_rows()), *drawn, "std_normal_log_qf"]:
        assert f"`{name}`" in index
    for family in scipy_families():
        assert f"| `{family.name}` | `scipy.stats` | {{doc}}`distributions/{family.rule}` |" in index
    for name in families_of_rows():
        assert f"| {{doc}}`distributions/{name}` |" in index


def test_names_of_numpy_are_methods_of_its_generator():
    numpy_names = module("family_rows").NUMPY
    assert all(callable(getattr(np.random.Generator, name)) for name in numpy_names)
    assert set(numpy_names.values()) <= families_of_rows()


def test_errors_are_of_functions_that_there_are():
    measured = module("family_pictures").measured()
    functions = {row.name for row in density_rows() if not row.name.endswith("_lbetween")}  # which have no curve
    families = families_of_rows()
    assert set(measured) <= functions | families
    assert families <= set(measured)
    assert len(set(measured) & functions) > 0.9 * len(functions)
    for name, kinds in measured.items():
        points = len(measured[name if name in families else name.rpartition("_")[0]]["at"])
        assert all(len(entries) <= points for kind, entries in kinds.items() if kind != "parameters")


def exact(sympy, found, point):
    """Return a derivative by SymPy's formulas of its cases, at the arguments by their names."""
    formula = next(each for test, each in found if test in ("", "elsewhere") or eval(test, {}, point))
    phi = sympy.Function("phi")
    plain = formula.replace(phi, lambda x: sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi))
    plain = plain.replace(lambda x: x.func.__name__ == "Phi", lambda x: sympy.erfc(-x.args[0] / sympy.sqrt(2)) / 2)
    return float(plain.subs({sympy.Symbol(name, real=True): sympy.Float(x, 40) for name, x in point.items()}).evalf(30))


def test_formulas_of_derivatives_are_those_of_the_functions():
    sympy = pytest.importorskip("sympy")
    rows, formulas = module("family_rows"), module("family_derivatives")
    compared = set()
    for family in rows.families().values():
        row = family.density
        for choice in (0, 1):
            others = rows.parameters(row, choice)
            tried = (2, 1, 0, 12) if family.is_discrete else (0.4, 2.5, 7.0, -0.3)
            for x in (x for x in tried if rows.is_inside(getattr(ag, row.name), x, others)):
                point = dict(zip((name for name, _ in row.arguments), (x, *others), strict=True))
                for name, found in formulas.derivatives(row).items():
                    k = [argument for argument, _ in row.arguments].index(name)
                    slope = ag.grad(getattr(ag, row.name), argnums=k)(*map(float, point.values()))
                    assert slope == pytest.approx(exact(sympy, found, point), rel=1e-12, abs=1e-14), (row.name, name, point)
                    compared.add((row.name, name))
    assert len(compared) > 90
