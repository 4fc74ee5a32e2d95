"""What README, documentation and docstrings show works: Python snippets, C++ snippets, links, completeness of the API page."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad import _info
from native_tools import require_compiler_and_cmake, run

pytestmark = pytest.mark.thread_unsafe(reason="doctest captures the output of the whole process")

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "cpp/include/agrad/tape/README.md"]
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(ag.__path__, "agrad.") if m.name not in ("agrad._core", "agrad.__main__")
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def run_doctest(text: str, name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, name, 0), out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in page.read_text()], ids=lambda page: page.stem)
def test_page(page):
    run_doctest("\n\n".join(blocks(page, "python")), page.name)


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module), globs={}, optionflags=FLAGS)  # an example imports what it needs
    assert result.failed == 0


def test_modules_with_examples_are_found():
    assert "agrad._transforms.gradients" in MODULES
    assert doctest.testmod(importlib.import_module("agrad._transforms.gradients")).attempted > 0


def test_readme_example():
    (example,) = blocks(README, "python")
    names: dict = {}
    exec(example, names)
    loss, params, gradient = names["loss"], names["params"], names["gradient"]
    assert names["value"] == pytest.approx(loss(params), rel=1e-5)  # whose steps see no derivatives; rtol is 1e-6
    compiled_gradient = names["fast"](params)[1]
    for key, at in params.items():
        for k, step in enumerate(1e-4 * np.diag(np.abs(at))):
            ahead, behind = (loss(params | {key: at + sign * step}) for sign in (1, -1))
            assert gradient[key][k] == pytest.approx((ahead - behind) / (2 * step[k]), rel=1e-3)
        assert compiled_gradient[key] == pytest.approx(gradient[key], rel=1e-9)


def test_readme_program_is_the_example():
    assert blocks(README, "cpp") == [(ROOT / "cpp/examples/product.cpp").read_text().partition("\n")[2]]


def cpp_program(snippets: list[str]) -> str:
    """A program of all snippets, each in a block of its own; its includes, classes and templates in a namespace of its own."""
    includes, spaces, body = ["#include <agrad/agrad.hpp>", "#include <cmath>"], "", ""
    for k, snippet in enumerate(snippets):
        includes += re.findall(r"^#include [^\s]+", snippet, re.MULTILINE)
        code = re.sub(r"^#include .*\n", "", snippet, flags=re.MULTILINE)
        declarations = re.compile(r"^(?:template|struct|class) .*?^}.*?\n", re.MULTILINE | re.DOTALL)
        spaces += f"namespace snippet_{k} {{\n{''.join(declarations.findall(code))}}}\n"
        body += f"{{\nusing namespace snippet_{k};\n{declarations.sub('', code)}}}\n"
    return "\n".join([*dict.fromkeys(includes), spaces, f"int main() {{\n{body}}}\n"])


def test_cpp_snippets_build_and_run(tmp_path):
    """README's project, and the snippets of all pages of the documentation as one program."""
    require_compiler_and_cmake()
    pages = {page.stem: blocks(page, "cpp") for page in PAGES if page.parent == ROOT / "docs"}
    assert {name for name, snippets in pages.items() if snippets} >= {"cpp", "functionals", "linalg", "matrix"}
    (tmp_path / "snippets.cpp").write_text(cpp_program([snippet for snippets in pages.values() for snippet in snippets]))
    (tmp_path / "product.cpp").write_text(blocks(README, "cpp")[0])
    (project,) = blocks(README, "cmake")
    more = "add_executable(snippets snippets.cpp)\ntarget_link_libraries(snippets PRIVATE agrad::agrad)\n"
    (tmp_path / "CMakeLists.txt").write_text(project + more)
    quickly = "-DCMAKE_CXX_FLAGS=-O0 -DAGRAD_ALWAYS_INLINE=inline"
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dagrad_DIR={_info.cmake_dir()}", quickly)
    run("cmake", "--build", tmp_path / "build", "--parallel", "2")
    run(tmp_path / "build" / "product")
    run(tmp_path / "build" / "snippets")


def test_api_page_has_every_public_name():
    page = (ROOT / "docs" / "api.md").read_text()
    names = re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE)
    listed = set(names)
    assert len(names) == len(listed)  # each once
    modules = {name for name in ag.__all__ if inspect.ismodule(getattr(ag, name))}  # by automodule, or on a page of their own
    assert listed | {"__version__"} == set(ag.__all__) - modules


def test_tables_of_functions_are_those_of_the_code(monkeypatch):
    """`python docs/tables.py` writes them; the repository shows the page without Sphinx."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    tables = importlib.import_module("tables")
    pages = [page.read_text() for page in tables.PAGES]
    assert sum(page.count("<!-- end -->") for page in pages) == len(tables.TABLES)
    if np.lib.NumpyVersion(np.__version__) >= "2.2.0":  # older ones have fewer functions
        for page in pages:
            assert tables.filled(page) == page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_placeholders(page):
    assert "{{ " not in re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!\w+:)([^)#]+)", prose):
        assert (page.parent / target).exists(), target
