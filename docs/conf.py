"""Sphinx: the pages are Markdown; tables.py makes tables, families.py pages of distributions, *pictures.py figures."""

import sys
from contextlib import redirect_stdout
from pathlib import Path

import agrad
from agrad import demo

HERE = Path(__file__).parent
GENERATED = HERE / "_build" / "generated"
sys.path.insert(0, str(HERE))
import families  # noqa: E402
import pictures  # noqa: E402
import trust_pictures  # noqa: E402

project, author, release = "agrad", "The agrad developers", agrad.__version__
project_copyright = "The agrad developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"agrad {release}"
highlight_language = "none"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what an argument is
napoleon_google_docstring = False
napoleon_use_ivar = True  # as targets of links, attributes of the same name are ambiguous
napoleon_use_rtype = False


def run_demo(*_: object) -> None:
    """Run the demonstration; the tutorial shows what it prints and draws."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    with (GENERATED / "demo.txt").open("w") as printed, redirect_stdout(printed):
        demo.main(["--output", str(GENERATED / "lynx_hare.png")])


def draw_pictures(*_: object) -> None:
    """Draw what the page on gradients and how far to trust them shows."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    pictures.draw(GENERATED / "gradient_trust.png")
    trust_pictures.draw_estimate(GENERATED / "gradient_estimate.png")
    trust_pictures.draw_switch(GENERATED / "gradient_switch.png")
    trust_pictures.draw_data(GENERATED / "gradient_data.png")


def write_families(*_: object) -> None:
    """Write a page with pictures for each family of univariate distributions."""
    families.write()


def escape(app: object, what: str, name: str, *rest: object) -> None:
    """Make the rules' plain texts, in which |x| is an absolute value, safe for reStructuredText."""
    if name.startswith(("agrad.stan.", "agrad.random.")):
        lines = rest[-1]
        lines[:] = [line.replace("|", r"\|").replace("*", r"\*") for line in lines]


def setup(app):
    """Connect what runs before pages and docstrings are read."""
    app.connect("builder-inited", run_demo)
    app.connect("builder-inited", draw_pictures)
    app.connect("builder-inited", write_families)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon
