"""What all tests share: hypothesis draws the same examples at each run, leaves no files, and is whole before threads use it."""

import contextlib
import importlib
import pkgutil

import hypothesis
import hypothesis.strategies._internal as strategies
import pytest

hypothesis.settings.register_profile("agrad", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("agrad")


@pytest.fixture(scope="session", autouse=True)
def every_strategy_is_imported() -> None:
    """Hypothesis imports strategies at their first use, which now and then fails in tests that run in several threads."""
    for module in pkgutil.iter_modules(strategies.__path__, strategies.__name__ + "."):
        with contextlib.suppress(ImportError):  # some need packages that are not here
            importlib.import_module(module.name)
