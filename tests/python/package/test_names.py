"""What agrad shows: about sixty names of its own, Stan's functions in agrad.stan, and what completion finds."""

import pickle
import subprocess
import sys

import pytest

import agrad as ag
from agrad import stan


def test_few_names_are_shown():
    assert dir(ag) == sorted(ag.__all__)
    assert len(dir(ag)) <= 70
    assert all(hasattr(ag, name) for name in ag.__all__)
    assert not [name for name in ag.__all__ if name in stan.__all__]


def test_names_of_stan_are_attributes_of_agrad_too():
    assert len(stan.__all__) == len(set(stan.__all__)) > 600
    for name in stan.__all__:
        function = getattr(stan, name)
        assert getattr(ag, name) is function
        assert function.__module__ == "agrad.stan"
    assert pickle.loads(pickle.dumps(ag.normal_lpdf)) is stan.normal_lpdf
    assert dir(ag) == sorted(ag.__all__)  # also after they were used


def test_a_star_imports_what_is_shown():
    code = "from agrad import *; import sys; print({*dir()} >= {*sys.modules['agrad'].__all__} and 'normal_lpdf' not in dir())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("module", [ag.constraints, ag.linalg, ag.random, ag.special, stan, ag.stats])
def test_modules_show_their_public_names(module):
    assert dir(module) == sorted(module.__all__)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match=r"^module 'agrad' has no attribute 'normal_lpfd'"):
        ag.normal_lpfd  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'normal_lpfd' from 'agrad'"):
        from agrad import normal_lpfd  # noqa: F401


def test_former_names_of_modules_lead_to_the_present_ones():
    assert ag.transforms is ag.constraints
    assert callable(ag.solve.explain)
    assert "transforms" not in dir(ag)
