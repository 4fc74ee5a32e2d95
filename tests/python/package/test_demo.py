"""`python -m agrad demo`: the gradient difference, the estimates, the plot and what is said without matplotlib."""

import io
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import agrad as ag
import agrad.demo
from agrad.demo.fit import _gradient_difference, fit_model
from agrad.demo.model import METHODS, UNKNOWNS, log_posterior, lynx_hare
from agrad.demo.report import PUBLISHED

pytestmark = pytest.mark.thread_unsafe(reason="runs programs, and matplotlib draws in one thread")

HAS_MATPLOTLIB = find_spec("matplotlib") is not None
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def fitted():
    return fit_model(lambda _: None)


@pytest.fixture
def fitted_demo(fitted, monkeypatch, tmp_path):
    """The demonstration in an empty directory, with the fit already made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(agrad.demo, "fit_model", lambda progress, method: progress("fitting") or fitted)
    return agrad.demo.main


def difference_in(text: str) -> float:
    return float(re.search(r"^largest relative gradient difference: (\S+)", text, re.MULTILINE)[1])


def test_command(tmp_path):
    command = [sys.executable, "-m", "agrad", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert difference_in(done.stdout) < 1e-6
    rows = {name: done.stdout.split(f"\n{name} ")[1].split("\n")[0].split() for name in UNKNOWNS}
    for name, (mean, sd) in zip(UNKNOWNS, PUBLISHED, strict=True):
        estimate, _, printed_mean, printed_sd, *_ = map(float, rows[name])
        assert abs(estimate - mean) < sd / 2, name
        assert (printed_mean, printed_sd) == pytest.approx((mean, sd), rel=1e-3)
    assert done.stderr == ""  # progress is for terminals
    plots = [path.name for path in tmp_path.iterdir()]
    assert plots == (["lynx_hare.png"] if HAS_MATPLOTLIB else [])


def test_mode_is_a_mode(fitted):
    gradient = ag.grad(log_posterior)(fitted.mode)
    assert np.all(np.abs(gradient) < 1e-4)
    assert np.all(np.linalg.eigvalsh(fitted.covariance) > 0)


def test_standard_errors_are_of_the_published_size(fitted):
    ratio = fitted.standard_errors / PUBLISHED[:, 1]
    assert np.all((ratio > 0.75) & (ratio < 1.0))  # Laplace's method knows no tails


@pytest.mark.parametrize("component", range(len(UNKNOWNS)))
def test_gradient_difference_sees_an_error_in_each_component(fitted, component):
    gradient = ag.grad(log_posterior)(fitted.mode)
    assert _gradient_difference(gradient, fitted.mode) < 1e-6
    gradient[component] += 1e-5
    assert _gradient_difference(gradient, fitted.mode) > 1e-6


@pytest.mark.skipif(not HAS_MATPLOTLIB, reason="matplotlib is missing")
def test_output(fitted_demo, tmp_path, capsys):
    assert fitted_demo(["--output", "other.png"]) == 0
    assert (tmp_path / "other.png").read_bytes().startswith(PNG)
    assert "plot: other.png" in capsys.readouterr().out.splitlines()


def test_without_matplotlib(fitted_demo, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert fitted_demo() == 0
    assert capsys.readouterr().out.count("matplotlib is missing") == 1
    assert not list(tmp_path.iterdir())


def test_output_in_no_directory_is_refused_at_once(fitted_demo, capsys):
    with pytest.raises(SystemExit, match="2"):
        fitted_demo(["--output", "nowhere/plot.png"])
    assert "must be a file in a directory that exists" in capsys.readouterr().err


def test_progress_on_a_terminal(fitted_demo, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    fitted_demo()
    assert terminal.getvalue() == "\rfitting\r       \r"


def test_data():
    years, pelts = lynx_hare()
    assert years.tolist() == list(range(21))
    assert pelts[:, [0, -1]].tolist() == [[30.0, 24.7], [4.0, 8.6]]
    assert pelts.sum() == pytest.approx(1139.2)


@pytest.mark.parametrize("method", METHODS[1:])
def test_every_method_gives_the_same_estimates(fitted, method):
    by_method = fit_model(lambda _: None, method)
    np.testing.assert_allclose(by_method.means, fitted.means, rtol=1e-5)
    np.testing.assert_allclose(by_method.standard_errors, fitted.standard_errors, rtol=1e-4)
    assert by_method.gradient_difference < 1e-6
