"""The derivatives of log densities as formulas, for the pages of families: SymPy's, of the expressions in the rules' rows.

The rules compute derivatives by other formulas, which keep their digits; tests compare the two.
"""

import ast
from typing import Any

import sympy
from family_rows import is_count
from sympy.printing.str import StrPrinter

from agrad._core import DensityRow

__all__ = ["Phi", "derivatives", "formulas"]


class Phi(sympy.Function):
    """The normal distribution function, whose derivative is written as phi."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Any:
        """Return the density."""
        return sympy.Function("phi")(self.args[0])


_ELSE = "elsewhere"
#: What the names in expressions are; their other functions have SymPy's names.
NAMES = {
    "Abs": sympy.Abs,
    "fabs": sympy.Abs,
    "inf": sympy.oo,
    "log1p": lambda x: sympy.log(1 + x),
    "ncdf": Phi,
}
NAMES |= {name: getattr(sympy, name) for name in ("besseli", "binomial", "cos", "erfc", "exp", "log", "loggamma", "pi", "sqrt")}


class _Chosen(ast.NodeTransformer):
    """Replaces conditional expressions: the first part of a sum whose other part is its limit, and one of two cases."""

    def __init__(self, is_first: bool) -> None:
        self.is_first = is_first
        self.test = ""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Return one of the two parts."""
        test, other = ast.unparse(node.test), ast.unparse(node.orelse)
        if other == "0" or "inf" in other:  # a factor of the logarithm of 0, and the edges of the support
            return self.visit(node.body)
        self.test = test
        return self.visit(node.body if self.is_first else node.orelse)


def _cases(row: DensityRow) -> list[tuple[str, Any]]:
    """Return the expression of a row as SymPy's; where it has two cases, each with its condition."""
    symbols = {name: sympy.Symbol(name, real=True) for name, _ in row.arguments}
    found = []
    for is_first in (True, False):
        choose = _Chosen(is_first)
        text = ast.unparse(choose.visit(ast.parse(row.reference, mode="eval")))
        expression = eval(text, {"__builtins__": {}}, NAMES | symbols)
        if not choose.test:
            return [("", expression)]
        found.append((choose.test if is_first else _ELSE, expression))
    return found


class _Printer(StrPrinter):
    """Prints formulas as the rows have them: powers by ^, and the names of agrad's functions."""

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        return super()._print_Pow(expr, rational).replace("**", "^")

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"|{self._print(expr.args[0])}|"

    def _print_polygamma(self, expr: Any) -> str:
        return f"digamma({self._print(expr.args[1])})"

    def _print_besseli(self, expr: Any) -> str:
        return f"I{expr.order}({self._print(expr.argument)})"


def _printed(formula: Any) -> str:
    """Return a formula as text, with spaces for products as in the rows' sources."""
    text = _Printer().doprint(formula).replace("lambda_", "lambda")
    return text.replace("*", " ").replace("/", " / ")


def _shortest(formula: Any) -> Any:
    """Return the shortest of equal formulas that SymPy finds."""
    candidates = [formula, sympy.simplify(formula), sympy.factor_terms(formula)]
    plain = [each for each in candidates if not each.has(sympy.Piecewise)]
    return min(plain, key=lambda each: len(_printed(each)))


def derivatives(row: DensityRow) -> dict[str, list[tuple[str, Any]]]:
    """Return the derivatives by each argument that is no count, as conditions and formulas."""
    free = [name for name, condition in row.arguments if not is_count(condition)]
    expressions = _cases(row)
    return {
        name: [(test, _shortest(sympy.diff(expression, sympy.Symbol(name, real=True)))) for test, expression in expressions]
        for name in free
    }


def _where(test: str) -> str:
    return f" for {test.replace('==', '=')}" if test not in ("", _ELSE) else f" {test}".rstrip()


def formulas(row: DensityRow) -> str:
    """Return the derivatives as lines of code."""
    lines = []
    for name, found in derivatives(row).items():
        head = f"d / d {name.rstrip('_')}"
        lines += [f"{head} = {_printed(formula)}{_where(test)}" for test, formula in found]
    return "\n".join(f"    {line}" for line in lines)
