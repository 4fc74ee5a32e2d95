"""Markdown tables of functions, made from the rows of the rules, the dispatch on NumPy's functions and docstrings.

They stand in the pages between a comment with the table's name and <!-- end -->. Run ``python docs/tables.py`` to write them
anew where a function was added; a test says when that is needed.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path

import family_rows
import numpy as np
import scipy.special
import stan_names

from agrad import linalg, random, special, stats
from agrad._complex.eigen import functions as of_general_matrices
from agrad._complex.fourier import functions as transforms
from agrad._complex.functions import functions as of_complex
from agrad._complex.linalg import functions as of_complex_matrices
from agrad._complex.ufuncs import ufuncs as complex_ufuncs
from agrad._core import density_rows, elementwise_rows, glm_rows, multivariate_rows, quantile_rows
from agrad._numpy import order
from agrad._numpy.creation import creators
from agrad._numpy.functions import groups
from agrad._numpy.linalg import functions as of_matrices
from agrad._numpy.missing import INSTEAD
from agrad._numpy.reductions import reducers
from agrad._stan.density import conditions
from agrad._stats.families import Family, families


def escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in r"\*_|`<>[]" else c for c in text)


def _domain(name: str, lower: float, upper: float, whole: bool) -> str:
    ends = "" if lower == -inf and upper == inf else f" from {lower:g} to {upper:g}".replace("inf", "∞")
    kind = " whole" * whole + "," * (whole and ends != "")
    return f"{name}{kind}{ends}" if ends or whole else ""


def _ufunc(name: str) -> str:
    """The ufunc by which NumPy or SciPy calls a rule; empty where they have none."""
    modules = [(np, "np"), (scipy.special, "special")]
    return next((f"`{label}.{name}`" for module, label in modules if isinstance(getattr(module, name, None), np.ufunc)), "")


def as_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def elementwise() -> str:
    """Return a row for each elementwise function: names, meaning, domain where it is restricted, NumPy's or SciPy's ufunc."""
    rows = []
    for row in elementwise_rows():
        domains = [_domain(name, *ends) for name, ends in zip("xyz", row.domain, strict=False)]
        arguments = ", ".join("xyz"[: row.arity])
        call = ", ".join(f"`{name}({arguments})`" for name in (row.name, row.stan) if name)
        rows.append([call, escaped(row.text), "; ".join(filter(None, domains)), _ufunc(row.ufunc)])
    return as_table(["function", "meaning", "domain", "ufunc"], rows)


def densities() -> str:
    """Return a row for each density: name with arguments, meaning, conditions on the arguments."""
    rows = [
        [
            f"`{row.name}({', '.join(name for name, _ in row.arguments)})`",
            escaped(row.text),
            "; ".join(f"{name}: {escaped(condition)}" for name, condition in conditions(row)),
        ]
        for row in [*density_rows(), *glm_rows()]
    ]
    return as_table(["density", "meaning", "conditions"], rows)


def quantiles() -> str:
    """Return a row for each family of quantiles: both functions, and the conditions on the arguments beside p."""
    by_name = {row.name: row for row in quantile_rows()}
    rows = []
    for name, row in by_name.items():
        if name.endswith("_cqf"):
            continue
        arguments = ", ".join(argument for argument, _ in row.arguments)
        musts = "; ".join(f"{argument}: {escaped(condition)}" for argument, condition in conditions(row)[1:])
        rows.append([f"`{name}({arguments})`", f"`{name.removesuffix('qf')}cqf`", musts])
    return as_table(["quantile", "of the complement", "conditions"], rows)


def distribution(family: Family) -> list[str]:
    """Return the entries for a distribution in SciPy's terms: its parameters, its rule with the arguments, its methods."""
    return [
        f"`{family.name}({', '.join(family.parameters)})`",
        f"`{family.density.name}({', '.join([family.form_text, *(term for term, _ in family.arguments)])})`",
        ", ".join(f"`{method}`" for method in getattr(stats, family.name).methods),
    ]


def distributions() -> str:
    """Return a row for each distribution in SciPy's terms."""
    return as_table(["distribution", "log density", "methods"], [distribution(family) for family in families()])


def family_index() -> str:
    """Return a row for each family: its page, Stan's names of its functions, SciPy's names and NumPy's."""
    rows = []
    for name, family in family_rows.families().items():
        others = [row.name for row in family.elementwise] + [draw for draw in (f"{name}_rng",) if draw in random.__all__]
        methods = [f"`{method}`" for method, drawn in family_rows.NUMPY.items() if drawn == name]
        of_stan = ", ".join(f"`{function}`" for function in [*(row.name for row in family.rows), *others])
        rows.append(
            [
                f"{{doc}}`distributions/{name}`",
                of_stan,
                ", ".join(f"`{each.name}`" for each in family.scipy),
                ", ".join(methods),
            ]
        )
    return as_table(["page", "functions, under Stan's names", "SciPy", "NumPy"], rows)


def names_index() -> str:
    """Return a row for each name of SciPy and NumPy in alphabetical order, with the family's page."""
    of_scipy = [(each.name, "`scipy.stats`", name) for name, family in family_rows.families().items() for each in family.scipy]
    of_numpy = [(method, "`numpy.random.Generator`", name) for method, name in family_rows.NUMPY.items()]
    rows = [
        [f"`{name}`", library, f"{{doc}}`distributions/{family}`"] for name, library, family in sorted([*of_scipy, *of_numpy])
    ]
    return as_table(["name", "in", "page"], rows)


def _size(letters: str) -> str:
    return "" if letters == "11" else f" ({letters[0]} × {letters[1]})"


def multivariate() -> str:
    """Return a row for each density of vectors and matrices: name with arguments, meaning, shapes and conditions."""
    rows = [
        [
            f"`{row.name}({', '.join(name for name, _ in row.arguments)})`",
            escaped(row.text),
            "; ".join(
                f"{escaped(name)}{_size(shape)}: {escaped(condition)}"
                for (name, condition), shape in zip(row.arguments, row.shapes, strict=True)
            ),
        ]
        for row in multivariate_rows()
    ]
    return as_table(["density", "meaning", "shapes and conditions"], rows)


def _names(functions: Iterable[Callable[..., object]]) -> str:
    return ", ".join(sorted({f"`{function.__name__}`" for function in functions}))


def numpy_functions() -> str:
    """Return a row for each group of NumPy's functions that take recorded arrays: what the group does, and its names."""
    rows = []
    for module in groups:
        meaning = module.__doc__.partition(":")[0].partition(".")[0]
        rows.append([meaning, _names(f for f in module.functions if f not in order.by_values)])
    rows.append(["new arrays, with the argument `like=x`", _names(creators)])
    methods = [f"`{name}.{method}`" for name, method in reducers]
    rows.append(["methods of ufuncs", ", ".join([*methods, "`outer` of all", "`add.at`", "`subtract.at`"])])
    return as_table(["what", "functions"], rows)


def numpy_integers() -> str:
    """Return the functions whose results are integers, which plain recordings know."""
    return _names(order.by_values)


def numpy_missing() -> str:
    """Return a row for each function that people look for and that is not there: what to write instead."""
    rows = [
        [f"`{function.__name__}`", escaped(hint)] for function, hint in sorted(INSTEAD.items(), key=lambda x: x[0].__name__)
    ]
    return as_table(["not there", "instead"], rows)


def linear_algebra() -> str:
    """Return a row for the functions of numpy.linalg that take recorded arrays, and one for those of agrad.linalg."""
    rows = [
        ["`np.linalg`", _names([*of_matrices, *of_general_matrices])],
        ["`ag.linalg`", ", ".join(f"`{name}`" for name in linalg.__all__)],
    ]
    return as_table(["module", "functions"], rows)


def complex_arrays() -> str:
    """Return rows for np.fft, for functions of np and np.linalg and for the ufuncs of complex recorded arrays."""
    rows = [
        ["`np.fft`", _names(transforms)],
        ["`np`, of complex arrays", _names(function for function in of_complex if function not in transforms)],
        ["`np.linalg`, of complex arrays", _names([*of_complex_matrices, *of_general_matrices])],
        ["ufuncs, of complex arrays", ", ".join(f"`{name}`" for name in sorted(complex_ufuncs))],
    ]
    return as_table(["module", "functions"], rows)


def special_functions() -> str:
    """Return the names of agrad.special."""
    return ", ".join(f"`{name}`" for name in special.__all__)


def random_numbers() -> str:
    """Return a row for each function that draws random numbers: name with parameters, meaning, conditions."""
    rows = []
    for name in random.__all__:
        text = inspect.getdoc(getattr(random, name)) or ""
        parameters = re.findall(r"^(\w+) : number or array-like\n    (.*)\.$", text, re.MULTILINE)
        meaning = " ".join(text.partition("\n\n")[0].split())
        conditions = "; ".join(escaped(f"{parameter}: {condition}") for parameter, condition in parameters)
        rows.append([f"`{name}({', '.join(parameter for parameter, _ in parameters)})`", escaped(meaning), conditions])
    return as_table(["function", "meaning", "conditions"], rows)


TABLES = {
    "elementwise_table": elementwise,
    "density_table": densities,
    "multivariate_table": multivariate,
    "numpy_table": numpy_functions,
    "numpy_integers": numpy_integers,
    "numpy_missing": numpy_missing,
    "linear_algebra": linear_algebra,
    "complex_arrays": complex_arrays,
    "special_functions": special_functions,
    "stan_counts": stan_names.counts,
    "stan_tables": stan_names.tables,
    "random_table": random_numbers,
    "quantile_table": quantiles,
    "distribution_table": distributions,
    "family_index": family_index,
    "names_index": names_index,
}
_NAMES = ("functions.md", "fft.md", "stats.md", "random.md", "coming_from_stan.md", "distributions.md")
PAGES = [Path(__file__).with_name(name) for name in _NAMES]


def filled(text: str) -> str:
    """Return a page with what stands between each table's comments made anew."""

    def made(match: re.Match[str]) -> str:
        table = TABLES[match[1]]()
        inner = f"\n\n{table}\n\n" if "\n" in table else table
        return f"<!-- {match[1]} -->{inner}<!-- end -->"

    return re.sub(r"<!-- (\w+) -->(?:(?!<!--).)*<!-- end -->", made, text, flags=re.DOTALL)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text()))
