"""A page for each family of univariate distributions, made from the rows of the rules while the documentation is built.

`write` writes the pages and their pictures into a folder, docs/distributions. All text is that of the rows and of docstrings,
or follows from calling the functions: examples are run, and the table of edges has what the functions return.
"""

import inspect
from pathlib import Path

from family_edges import edges
from family_pictures import draw_errors, draw_family, errors_of, has_distribution_function
from family_rows import NUMPY, Family, families, first_argument, is_count, parameters
from tables import as_table, distribution, escaped

try:
    from family_derivatives import formulas
except ImportError:  # SymPy is not among what tests install, because it asks for an older mpmath than they do
    formulas = None

import agrad as ag
from agrad import random, stan
from agrad._stan.density import conditions

FOLDER = Path(__file__).with_name("distributions")


#: Parts of names that headings write out.
WORDS = {
    "exp": "exponentially",
    "inv": "inverse",
    "mises": "Mises",
    "mod": "modified",
    "neg": "negative",
    "simon": "Simon",
    "std": "standard",
}


def title(name: str) -> str:
    """Return the heading of a family's page."""
    words = " ".join(WORDS.get(word, word) for word in name.split("_"))
    return words[0].upper() + words[1:]


def number(value: float, condition: str) -> str:
    """Return a number as code; counts are whole."""
    return str(int(value)) if is_count(condition) else repr(float(value))


def example_arguments(family: Family) -> list[str]:
    """Return the arguments of the examples as code."""
    row = family.density
    values = (first_argument(family), *parameters(row))
    return [number(value, condition) for value, (_, condition) in zip(values, row.arguments, strict=True)]


def free_places(family: Family) -> list[int]:
    """Return the places of the parameters that have derivatives; that of the first argument where there are none."""
    real = [k for k, (_, condition) in enumerate(family.density.arguments) if not is_count(condition)]
    return [k for k in real if k > 0] or real


def what_it_is(family: Family) -> str:
    """Return the texts of the density."""
    return f"{escaped(family.density.text)}\n\n    {family.density.source}"


def listed(names: list[str]) -> str:
    """Return the names with commas, and "and" before the last."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def arguments(family: Family) -> str:
    """Return a table of the arguments, with the conditions of functions that differ."""
    rows = []
    for name, condition in conditions(family.density):
        others: dict[str, list[str]] = {}
        for other in family.rows:
            must = dict(conditions(other)).get(name, condition)
            if must != condition:
                others.setdefault(must, []).append(f"`{other.name}`")
        differing = "".join(f"; of {listed(names)}: {escaped(must)}" for must, names in others.items())
        rows.append([f"`{name}`", escaped(condition) + differing])
    for interval in family.intervals:
        rows += [[f"`{name}`, of intervals", escaped(condition)] for name, condition in conditions(interval)[:2]]
    if family.quantiles:
        rows.append(["`p`, of quantiles", escaped(conditions(next(iter(family.quantiles.values())))[0][1])])
    return as_table(["argument", "condition"], rows)


def functions(family: Family) -> str:
    """Return a table of the functions: call, meaning, formula and source."""
    rows = []
    for row in family.rows:
        source = "as above" if row is family.density else escaped(getattr(row, "source", ""))
        rows.append([f"`{row.name}({', '.join(name for name, _ in row.arguments)})`", escaped(row.text), source])
    rows += [
        [f"`{row.name}({', '.join('xyz'[: row.arity])})`", escaped(row.text), escaped(row.source)] for row in family.elementwise
    ]
    draw = getattr(random, f"{family.name}_rng", None)
    if draw is not None:
        names = [name for name in inspect.signature(draw).parameters if name not in ("rng", "size")]
        meaning = " ".join((inspect.getdoc(draw) or "").partition("\n\n")[0].split())
        rows.append([f"`{family.name}_rng({', '.join([*names, 'rng=None', 'size=None'])})`", escaped(meaning), ""])
    text = as_table(["function", "meaning", "formula and source"], rows)
    methods = [f"`{method}`" for method, drawn in NUMPY.items() if drawn == family.name]
    text += f"\n\n`numpy.random.Generator` draws from the family by {listed(methods)}." if methods else ""
    if not family.scipy:
        return text + "\n\nThe family has no name in SciPy, so `agrad.stats` does not have it."
    named = as_table(["`agrad.stats`", "log density", "methods"], [distribution(each) for each in family.scipy])
    return f"{text}\n\nIn [SciPy's spelling](../stats.md), entry by entry:\n\n{named}"


def derivative(family: Family) -> str:
    """Return with respect to which arguments there are derivatives, and their formulas."""
    row = family.density
    real = [f"`{name}`" for name, condition in row.arguments if not is_count(condition)]
    data = [f"`{name}`" for name, condition in row.arguments if is_count(condition)]
    if not real:
        return "All arguments are data, so there are no derivatives."
    have = f"The functions have derivatives with respect to {listed(real)}"
    if family.quantiles:
        have += ", quantiles with respect to `p` instead of the first"
    if data:
        have += f"; {listed(data)} {'is' if len(data) == 1 else 'are'} data and {'has' if len(data) == 1 else 'have'} none"
    general = "[What can be recorded](../functions.md) says what holds for all functions."
    text = f"{have}. {general}"
    if formulas is not None:
        text += f" Those of `{row.name}` are\n\n{formulas(row)}"
    if family.is_discrete or not has_distribution_function(family):
        return text
    first = row.arguments[0][0]
    text += f"\n\nWith the density f and the distribution function F, d F / d {first} = f, d log F / d {first} = f / F and"
    text += f" d log(1 - F) / d {first} = -f / (1 - F)."
    if family.quantiles:
        text += " A quantile q has d q / d p = 1 / f(q)"
        text += " and, with respect to a parameter, -(d F / d parameter) / f at q." if len(row.arguments) > 1 else "."
    return text


def in_python(family: Family) -> str:
    """Return an example with what it prints, found by running it."""
    values = ", ".join(example_arguments(family))
    lines = [f"stan.{family.density.name}({values})"]
    if free := free_places(family):
        lines.append(f"ag.grad(stan.{family.density.name}, argnums={tuple(free)})({values})")
    if "qf" in family.quantiles:
        at = "".join(f", {value!r}" for value in parameters(family.density))
        lines.append(f"stan.{family.name}_qf(0.9{at})")
    printed = [f">>> {line}\n{eval(line, {'ag': ag, 'stan': stan})!r}" for line in lines]
    return "\n".join(["```python", ">>> import agrad as ag", ">>> from agrad import stan", *printed, "```"])


def in_cpp(family: Family) -> str:
    """Return an example with what it prints, which follows from Python's functions."""
    row, values, free = family.density, example_arguments(family), free_places(family)
    numbers = [float(value) for value in values]
    names = [row.arguments[k][0] for k in free]
    head, result = ["#include <agrad/probability.hpp>", "#include <iostream>", ""], f"{getattr(stan, row.name)(*numbers):g}"
    if not free:
        body = [f"std::cout << agrad::{row.name}({', '.join(values)}) << '\\n';  // {result}"]
        return "\n".join(["```cpp", *head, *body, "```"])
    called_with = [row.arguments[k][0] if k in free else value for k, value in enumerate(values)]
    slopes = ag.grad(getattr(stan, row.name), argnums=tuple(free))(*numbers)
    body = [
        "const agrad::scope own;",
        f"const agrad::var {', '.join(f'{name} = {values[k]}' for name, k in zip(names, free, strict=True))};",
        f"const agrad::var lp = agrad::{row.name}({', '.join(called_with)});",
        "lp.grad();",
        f"std::cout << lp.val(){''.join(f' << {chr(39)} {chr(39)} << {name}.adj()' for name in names)} << '\\n';",
        f"// {' '.join([result, *(f'{slope:g}' for slope in slopes)])}",
    ]
    return "\n".join(["```cpp", *head, *body, "```"])


def errors(family: Family, has_picture: bool) -> str:
    """Return the picture of the errors with its legend, and the functions without measured errors."""
    found = errors_of(family)
    missing = [f"`{row.name}`" for row in family.densities.values() if row.name not in found.of_functions]
    absent = f"mpmath is too slow for the exact values of {listed(missing)}, so errors of it are not drawn." if missing else ""
    if not has_picture:
        return absent
    names = [name for name, _ in family.density.arguments]
    at = ", ".join(f"{name} = {value}" for name, value in zip(names[1:], found.parameters, strict=True))
    where = f", at {at}" if at else ""
    return (
        f"Relative errors of the values and the largest ones of the first derivatives, by `{names[0]}` from one tail to the"
        f" other{where}; errors below 1e-17 are drawn there. The exact values are mpmath's.{' ' * (absent != '')}{absent}\n\n"
        f"![errors of the functions]({family.name}_errors.png)"
    )


def page(family: Family, has_errors: bool) -> str:
    """Return the page of a family."""
    kind = "Mass" if family.is_discrete else "Density"
    drawn = f"{kind} and distribution function" if has_distribution_function(family) else kind
    picture = f"![{drawn.lower()}]({family.name}.png)"
    sections = {
        f"# {title(family.name)}": what_it_is(family),
        "## Arguments": arguments(family),
        "## Functions": functions(family),
        "## Edges and bad input": edges(family),
        "## Derivatives": derivative(family),
        "## Examples": f"{in_python(family)}\n\n{in_cpp(family)}",
        f"## {drawn}": picture,
        "## Errors": errors(family, has_errors),
    }
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in sections.items()) + "\n"


def store(pages: dict[str, str], folder: Path) -> None:
    """Write pages by the names of their files; remove others, and leave those that are not different as they are."""
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def write(folder: Path = FOLDER) -> None:
    """Write the pages and pictures of all families."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {}
    for name, family in families().items():
        draw_family(family, folder / f"{name}.png")
        pages[f"{name}.md"] = page(family, draw_errors(family, folder / f"{name}_errors.png"))
    store(pages, folder)
