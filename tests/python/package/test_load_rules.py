"""Rules from libraries: each library is one file of C++; its functions have every derivative in every engine, and pickles."""

import ctypes
import importlib
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad import _core, _info
from native_tools import require_compiler_and_cmake, run

pytestmark = pytest.mark.thread_unsafe(reason="compiles, and loads into the process")

SOURCE = Path(__file__).resolve().parents[3]
EXAMPLE = SOURCE / "cpp" / "examples" / "rules"

# A rule of two arguments with a domain, one with a check, one that is no function, and a type of the example's name.
MORE = """
#include <agrad/rule_library.hpp>
namespace {
struct cube_rule : agrad::rule<1> {  // is part of a derivative and no function
  static constexpr std::string_view name = "more_cube", text = "x^3.";
  static double value(double x) { return x * x * x; }
  template <class T>
  static T derivative(agrad::wrt<0>, const T& x, const T&) { return 3.0 * x * x; }
};
struct sech_rule : agrad::rule<1> {
  static constexpr std::string_view name = "quarter", text = "x^4 / 4.";
  static double value(double x) { return x * x * x * x / 4; }
  template <class T>
  static T derivative(agrad::wrt<0>, const T& x, const T&) { return agrad::apply<cube_rule>(x); }
};
struct pulse_rule : agrad::rule<2> {
  static constexpr std::string_view name = "pulse", text = "exp(-(x / w)^2).", source = "Gauss (1809)";
  static constexpr agrad::interval domain[] = {{}, {0, agrad::infinity}};
  static double value(double x, double w) { return w > 0 ? std::exp(-(x / w) * (x / w)) : agrad::quiet_nan; }
  template <class T>
  static T derivative(agrad::wrt<0>, const T& x, const T& w, const T& value) { return -2.0 * x / (w * w) * value; }
  template <class T>
  static T derivative(agrad::wrt<1>, const T& x, const T& w, const T& value) { return 2.0 * x * x / (w * w * w) * value; }
};
struct root_rule : agrad::rule<1> {
  static constexpr std::string_view name = "checked_root", text = "Square root.";
  static constexpr const agrad::condition* must = &agrad::must_be::nonnegative;
  static double value(double x) { return std::sqrt(x); }
  template <class T>
  static T derivative(agrad::wrt<0>, const T&, const T& value) { return 0.5 / value; }
};
}
const agrad::rule_library* agrad_rules() { return agrad::library_of<sech_rule, pulse_rule, root_rule>(); }
"""
TAKEN = """
#include <agrad/rule_library.hpp>
namespace {
struct tanh_rule : agrad::rule<1> {
  static constexpr std::string_view name = "tanh", text = "Another function.";
  static double value(double x) { return x; }
  template <class T>
  static double derivative(agrad::wrt<0>, const T&, const T&) { return 1.0; }
};
}
const agrad::rule_library* agrad_rules() { return agrad::library_of<tanh_rule>(); }
"""
OTHERS = {
    "more": MORE,
    "taken": TAKEN,
    "foreign": 'extern "C" const void* agrad_rules() { return nullptr; }',
    "none": "int agrad_rule() { return 1; }",
}
# What find_package finds where the package is used from its source.
CONFIG = """find_package(Eigen3 CONFIG REQUIRED HINTS {hint})
add_library(agrad::agrad INTERFACE IMPORTED)
target_include_directories(agrad::agrad INTERFACE {include})
target_compile_features(agrad::agrad INTERFACE cxx_std_17)
target_link_libraries(agrad::agrad INTERFACE Eigen3::Eigen)
"""


def build(folder: Path) -> None:
    """Build the example's project with the other libraries added to it."""
    lines = (EXAMPLE / "CMakeLists.txt").read_text()
    shutil.copy2(EXAMPLE / "sech.cpp", folder)
    for name, text in OTHERS.items():
        (folder / f"{name}.cpp").write_text(text)
        lines += f"add_library({name} MODULE {name}.cpp)\ntarget_link_libraries({name} PRIVATE agrad::agrad)\n"
    (folder / "CMakeLists.txt").write_text(lines)
    config = _info.cmake_dir()
    if not (config / "agrad-config.cmake").is_file():
        config = folder / "config"
        config.mkdir()
        hint = Path(sysconfig.get_path("purelib"), "cmeel.prefix")
        (config / "agrad-config.cmake").write_text(CONFIG.format(hint=hint, include=SOURCE / "cpp" / "include"))
    run("cmake", "-S", folder, "-B", folder / "build", f"-Dagrad_DIR={config}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder / "build", "--parallel", 2)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Return the folder of the libraries, which one process of the test run builds."""
    require_compiler_and_cmake()
    fcntl = pytest.importorskip("fcntl")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "rule_libraries"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            build(folder)
            (folder / "built").touch()
    return folder / "build"


@pytest.fixture
def sech(libraries):
    return ag.load_rules(libraries / "libsech.so").sech


@pytest.fixture
def more(libraries):
    return ag.load_rules(libraries / "libmore.so")


def python_block() -> str:
    (block,) = re.findall(r"^```python\n(.*?)^```$", (SOURCE / "docs" / "rules.md").read_text(), re.MULTILINE | re.DOTALL)
    return block


def test_the_page_s_program_runs(libraries, monkeypatch, capsys):
    monkeypatch.chdir(libraries)
    exec(python_block(), {})
    assert float(capsys.readouterr().out) == pytest.approx(-math.tanh(0.5) / math.cosh(0.5), rel=1e-15)


X = np.array([0.0, 0.5, -3.0, 20.0])
SLOPES = [  # of sech
    lambda x: 1 / np.cosh(x),
    lambda x: -np.tanh(x) / np.cosh(x),
    lambda x: (2 * np.tanh(x) ** 2 - 1) / np.cosh(x),
    lambda x: (5 * np.tanh(x) - 6 * np.tanh(x) ** 3) / np.cosh(x),
]


def sum_of_gradient(f):
    return lambda x: np.sum(ag.grad(f)(x))


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("wrap", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_derivatives_of_every_order(sech, order, wrap):
    def f(x):
        return np.sum(sech(x))

    for _ in range(order):
        f = sum_of_gradient(f)
    np.testing.assert_allclose(wrap(f)(X), np.sum(SLOPES[order](X)), rtol=1e-13)


def test_transformations(sech):
    np.testing.assert_allclose(ag.vmap(sech)(X), SLOPES[0](X), rtol=1e-15)
    np.testing.assert_allclose(ag.vmap(ag.grad(sech))(X), SLOPES[1](X), rtol=1e-14)
    np.testing.assert_allclose(ag.jvp(sech, (X,), (np.ones(4),))[1], SLOPES[1](X), rtol=1e-14)
    np.testing.assert_allclose(np.diag(ag.jacfwd(sech)(X)), SLOPES[1](X), rtol=1e-14)
    np.testing.assert_allclose(ag.hvp(lambda x: np.sum(sech(x)))(X, np.ones(4)), SLOPES[2](X), rtol=1e-13)
    with ag.tape():
        x = ag.var(X)
        np.sum(sech(x) ** 2).grad()
        np.testing.assert_allclose(x.adj(), 2 * SLOPES[0](X) * SLOPES[1](X), rtol=1e-14)


def test_straight_code_and_loops(sech):
    """A long chain of numbers is straight code; a scan has a program of its own."""

    def chain(x):
        for _ in range(60):
            x = sech(x)
        return x

    def loop(x):
        return ag.fori(0, 60, lambda k, x: sech(x), x)

    value, slope, second = 0.3, 1.0, 0.0
    for _ in range(60):
        first = SLOPES[1](value)
        value, slope, second = SLOPES[0](value), slope * first, second * first + slope**2 * SLOPES[2](value)
    for f in (chain, loop):
        compiled = ag.compile(ag.value_and_grad(f))
        for _ in range(2):
            np.testing.assert_allclose(compiled(0.3), [value, slope], rtol=1e-12)
        np.testing.assert_allclose(ag.compile(ag.hessian(f))(0.3), second, rtol=1e-11)


def test_in_a_differential_equation(sech):
    """The solution of y' = k sech(t): y(1) = 2 k (atan(e) - pi / 4)."""

    def end(k):
        options = {"rtol": 1e-10, "atol": 1e-12}
        return ag.solve_ivp(lambda t, y, k: k * sech(t) + 0.0 * y, (0.0, 1.0), [0.0], args=(k,), **options).y[0, -1]

    exact = 2 * (math.atan(math.e) - math.pi / 4)
    np.testing.assert_allclose(ag.value_and_grad(end)(1.5), [1.5 * exact, exact], rtol=1e-9)


def test_faults_of_arguments(sech, more):
    assert np.isnan(sech(np.nan))
    assert sech(np.inf) == 0.0
    assert sech(np.zeros((0, 3))).shape == (0, 3)
    assert np.isnan(more.pulse(1.0, -1.0))
    with pytest.raises(TypeError, match="sech"):
        sech(1j)
    with pytest.raises(TypeError, match="number of arguments is 2, but must be 1"):
        sech(1.0, 2.0)
    with pytest.raises(ag.ShapeError, match="pulse"):
        more.pulse(np.ones(2), np.ones(3))
    with pytest.raises(ag.DomainError, match=r"checked_root: x is -1, but must be nonnegative"):
        more.checked_root(-1.0)


def test_docstrings(sech, more):
    assert sech.__doc__.startswith("Hyperbolic secant, 1 / cosh(x).")
    assert "Gauss (1809)" in more.pulse.__doc__
    assert "real number from 0 to inf" in more.pulse.__doc__.lower()
    assert sorted(vars(more)) == ["checked_root", "pulse", "quarter"]


def test_two_arguments_broadcast(more):
    x, w = np.linspace(-1.0, 2.0, 5)[:, None], np.array([0.5, 1.0, 3.0])
    np.testing.assert_allclose(more.pulse(x, w), np.exp(-((x / w) ** 2)), rtol=1e-15)

    def total(f):
        return lambda x, w: np.sum(f(x, w) ** 2)

    def by_agrad(x, w):
        return np.exp(-((x / w) ** 2))

    for transform in (ag.grad, ag.hessian):
        found, expected = (transform(total(f), argnums=(0, 1))(x[:, 0], 0.7) for f in (more.pulse, by_agrad))
        for a, b in zip(np.ravel(np.asarray(found, dtype=object)), np.ravel(np.asarray(expected, dtype=object)), strict=True):
            np.testing.assert_allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-12, atol=1e-15)


def test_rules_of_one_type_name_do_not_mix(sech, more):
    """Both libraries have a type sech_rule; the derivative of `quarter` is a rule that is no function."""
    np.testing.assert_allclose(more.quarter(X), X**4 / 4, rtol=1e-15)
    second = ag.compile(ag.grad(lambda x: np.sum(ag.grad(lambda x: np.sum(more.quarter(x) + sech(x)))(x))))
    np.testing.assert_allclose(second(X), 3 * X**2 + SLOPES[2](X), rtol=1e-13)
    program = second.recorded()[0][1][0].program
    assert pickle.loads(pickle.dumps(program)).to_bytes() == program.to_bytes()


USER = """
import numpy as np

rules = None


def loss(x):
    for _ in range(40):
        x = rules.sech(x)
    return np.sum(x) + rules.sech(x[0])
"""
READ = """
import pickle, sys, numpy as np, agrad as ag
for library in sys.argv[2:]:
    ag.load_rules(library)
with open(sys.argv[1], "rb") as file:
    print(*(value.hex() for value in pickle.load(file)(np.array([0.3, -1.2]))))
"""


def test_pickles_name_the_rules(libraries, sech, tmp_path, monkeypatch):
    (tmp_path / "rule_user.py").write_text(USER)
    monkeypatch.syspath_prepend(tmp_path)
    user = importlib.import_module("rule_user")
    user.rules = ag.load_rules(libraries / "libsech.so")
    gradient = ag.compile(ag.grad(user.loss))
    value = gradient(np.array([0.3, -1.2]))
    (tmp_path / "kept").write_bytes(pickle.dumps(gradient))

    def read(*names):
        command = [sys.executable, "-c", READ, str(tmp_path / "kept"), *(str(libraries / name) for name in names)]
        path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    assert read("libmore.so", "libsech.so").stdout.split() == [each.hex() for each in value]
    without = read("libmore.so")
    assert re.search(r"ValueError: program: operation is sech, but must be one .*; load .*agrad[.]load_rules", without.stderr)


def test_loading_again_is_harmless(libraries, sech):
    again = []

    def load():
        again.append(ag.load_rules(str(libraries / "libsech.so")).sech(X))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(again) == 8
    for values in again:
        np.testing.assert_array_equal(values, sech(X))


def changed(library: Path, place: int, by: bytes) -> bytes:
    """Return the beginning of what a library gives the module, with other bytes at a place."""
    function = ctypes.CDLL(str(library)).agrad_rules
    function.restype = ctypes.c_void_p
    data = bytearray(ctypes.string_at(function(), 160))
    data[place : place + len(by)] = by
    return bytes(data)


@pytest.mark.parametrize(
    ("place", "by", "message"),
    [
        (0, b"other", "what agrad_rules.* is something else, but must be a library of rules"),
        (16, b"0.0.9\0", rf"version of s.so is 0.0.9, but must be {ag.__version__}; compile the library with the headers"),
        (32, b"libx++\0", "C[+][+] library of s.so is libx[+][+], but must be lib"),
        (48, b"\x01\x01\x01\x01", "layout of s.so is another, but must be that of this module"),
        (96, b"\0\0\0\x80", "instruction set of s.so is an unknown one, but must be one of this processor"),
    ],
)
def test_fingerprints(libraries, place, by, message):
    data = ctypes.create_string_buffer(changed(libraries / "libsech.so", place, by))
    with pytest.raises(ValueError, match=message):
        _core.add_rules(ctypes.addressof(data), "s.so")


def test_files_that_are_no_libraries(libraries, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"load_rules: path is 'nothing.so', but must be the path of a file"):
        ag.load_rules("nothing.so")
    with pytest.raises(FileNotFoundError, match="but must be the path of a file"):
        ag.load_rules(tmp_path)
    whole = (libraries / "libsech.so").read_bytes()
    for k, content in enumerate((b"", b"text\n", *(whole[: len(whole) * k // 8] for k in range(1, 6)), whole[:60])):
        file = tmp_path / f"cut{k}.so"
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"load_rules: cut{k}.so is (shorter|not loaded)"):
            ag.load_rules(file)
    with pytest.raises(ValueError, match=r"libnone.so has no function agrad_rules, but must have one"):
        ag.load_rules(libraries / "libnone.so")
    with pytest.raises(ValueError, match=r"what agrad_rules\(\) returns of libforeign.so is something else"):
        ag.load_rules(libraries / "libforeign.so")


def test_names_that_are_taken(libraries, sech, tmp_path):
    with pytest.raises(ValueError, match=r"name of a rule of libtaken.so is tanh, but must be a new one"):
        ag.load_rules(libraries / "libtaken.so")
    copy = shutil.copy2(libraries / "libsech.so", tmp_path / "copy.so")
    with pytest.raises(ValueError, match=r"name of a rule of copy.so is sech, but must be a new one; .* needs a new process"):
        ag.load_rules(copy)
    assert sech(0.0) == 1.0
    assert ag.tanh(0.5) == math.tanh(0.5)
