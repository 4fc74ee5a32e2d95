"""agrad is imported with NumPy 2 or newer only, and the package's metadata says so."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agrad import _requirements

SOURCE = Path(__file__).resolve().parents[3]
#: Imports agrad where NumPy has another version, and prints the error and whether the compiled module was loaded.
IMPORT = """
import sys
import numpy
numpy.__version__ = sys.argv[1]
try:
    import agrad
except ImportError as error:
    print(error, "agrad._core" in sys.modules, sep="|")
"""


@pytest.mark.thread_unsafe(reason="starts processes")
def test_an_older_numpy_is_refused_before_the_module_is_loaded():
    result = subprocess.run([sys.executable, "-c", IMPORT, "1.26.4"], capture_output=True, text=True, check=True)
    message, loaded = result.stdout.strip().split("|")
    assert message.startswith("import agrad: NumPy is of version 1.26.4, but must be of version 2.0 or newer")
    assert loaded == "False"


@pytest.mark.parametrize("version", ["2.0.0", "2.4.1", "2.5.0.dev0", "10.0.0"])
def test_newer_versions_are_accepted(version):
    _requirements.check_numpy(version)
    _requirements.check_numpy(np.__version__)


def test_solves_of_stacks_are_those_of_this_numpy():
    """The reason: with NumPy 1, b of this shape would be a stack of two vectors."""
    a = np.stack([np.eye(2), 2 * np.eye(2)])
    b = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.linalg.solve(a, b).tolist() == [b.tolist(), (b / 2).tolist()]


def test_packages_are_installed_with_it():
    least = ".".join(map(str, _requirements.LEAST))
    assert f'"numpy>={least}"' in (SOURCE / "pyproject.toml").read_text()
    assert f"- numpy >={least}\n" in (SOURCE / "environment.yml").read_text()
