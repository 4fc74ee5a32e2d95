"""The programs of the pages on log densities and other tools run."""

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.thread_unsafe(reason="samples in threads")
@pytest.mark.parametrize("page", ["bridges", "posterior"])
def test_programs_of_the_page(page):
    for tool in ("walnutpie", "owalnuts"):
        pytest.importorskip(tool)
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL))
    names: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a seed with adaptive stopping
        exec(program, names)
    assert page != "bridges" or names["f"].counts["ended"] == 0
