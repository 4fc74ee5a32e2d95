"""The truth about functions of matrices: values and derivatives by mpmath and differences, with 200 digits.

    python tests/python/matrix_reference.py > tests/reference/matrix.txt

For each function and point: the function's values, the gradient of their sum with weights w, and the second derivative of
that sum in the direction v. Beside every number stands its unit, the change in it that changes of the arguments may cause,
as a multiple of theirs: what an algorithm cannot be better than, in units in the last place. Arguments change each by
itself and in proportion to its size, where the algorithm rotates columns or whole matrices to that of the largest in
the column or matrix. Read next: matrix_points.py.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import mpmath
from mpmath import mp, mpf

from matrix_points import POINTS, Numbers

Matrix = mpmath.matrix
DIGITS = 200
STEP = mpf(10) ** -40


# ---- functions, of mpmath's matrices, that return one or several of them -----------------------------------------------


def symmetric(a: Matrix) -> Matrix:
    return (a + a.T) / 2


def scalar(x: mpf) -> Matrix:
    return mp.matrix([x])


def entries(a: Matrix) -> list[mpf]:
    """Column after column."""
    return [a[i, j] for j in range(a.cols) for i in range(a.rows)]


def column(x: list[mpf]) -> Matrix:
    return mp.matrix(x)


def solve(a: Matrix, b: Matrix) -> Matrix:
    return mp.inverse(a) * b


def determinant(a: Matrix) -> mpf:
    """By the sum over permutations, which knows no singular matrices."""

    def sign(order: tuple[int, ...]) -> int:
        return (-1) ** sum(order[i] > order[j] for i, j in combinations(range(a.rows), 2))

    return mp.fsum(sign(p) * mp.fprod(a[i, p[i]] for i in range(a.rows)) for p in permutations(range(a.rows)))


def lower_triangle(a: Matrix, *, unit: bool = False) -> Matrix:
    def entry(i: int, j: int) -> mpf:
        return a[i, j] if i > j else mpf(1) if i == j and unit else a[i, j] if i == j else mpf(0)

    return mp.matrix([[entry(i, j) for j in range(a.cols)] for i in range(a.rows)])


def ldlt(a: Matrix) -> tuple[Matrix, Matrix]:
    """By elimination: in P = L U the rows of U are those of L' times the pivots."""
    rest, n = symmetric(a), a.rows
    lower, pivots = mp.eye(n), []
    for k in range(n):
        pivots.append(rest[k, k])
        for i in range(k + 1, n):
            lower[i, k] = rest[i, k] / rest[k, k]
            for j in range(n):
                rest[i, j] -= lower[i, k] * rest[k, j]
    return lower, column(pivots)


def qr(a: Matrix) -> tuple[Matrix, Matrix]:
    """By the Cholesky factor of a' a, which is R; of a wide matrix for its square part."""
    k = min(a.rows, a.cols)
    square = a[:, 0:k]
    r = mp.cholesky(square.T * square).T
    q = square * mp.inverse(r)
    return q, q.T * a if a.cols > k else r


def signless(x: Matrix, y: Matrix) -> Matrix:
    """Columns of x, times the first entries of those of y: what does not depend on the signs of both."""
    return mp.matrix([[x[i, j] * y[0, j] for j in range(x.cols)] for i in range(x.rows)])


def symmetric_eigen(a: Matrix) -> tuple[Matrix, Matrix]:
    values, vectors = mp.eigsy(symmetric(a))
    order = sorted(range(a.rows), key=lambda k: values[k])
    ordered = mp.matrix([[vectors[i, k] for k in order] for i in range(a.rows)])
    return column([values[k] for k in order]), signless(ordered, ordered)


def svd(a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    u, s, vt = mp.svd_r(a)
    return signless(u, vt.T), column(list(s)), signless(vt.T, u)


def kronecker(a: Matrix, b: Matrix) -> Matrix:
    def entry(i: int, j: int) -> mpf:
        return a[i // b.rows, j // b.cols] * b[i % b.rows, j % b.cols]

    return mp.matrix([[entry(i, j) for j in range(a.cols * b.cols)] for i in range(a.rows * b.rows)])


def sum_of_exponentials(x: Matrix) -> mpf:
    return mp.fsum(mp.exp(e) for e in entries(x))


def running_sums(x: Matrix) -> Matrix:
    return column([mp.fsum(entries(x)[: k + 1]) for k in range(len(x))])


FUNCTIONS: dict[str, Callable[..., Matrix | tuple[Matrix, ...]]] = {
    "sum": lambda x: scalar(mp.fsum(entries(x))),
    "mean": lambda x: scalar(mp.fsum(entries(x)) / len(x)),
    "dot": lambda x, y: scalar(mp.fsum(a * b for a, b in zip(x, y, strict=True))),
    "squared_norm": lambda x: scalar(mp.fsum(e * e for e in x)),
    "norm": lambda x: scalar(mp.sqrt(mp.fsum(e * e for e in x))),
    "prod": lambda x: scalar(mp.fprod(x)),
    "log_sum_exp": lambda x: scalar(mp.log(sum_of_exponentials(x))),
    "softmax": lambda x: column([mp.exp(e) / sum_of_exponentials(x) for e in entries(x)]),
    "log_softmax": lambda x: column([e - mp.log(sum_of_exponentials(x)) for e in entries(x)]),
    "cumulative_sum": running_sums,
    "trace": lambda a: scalar(mp.fsum(a[i, i] for i in range(a.rows))),
    "product": lambda a, b: a * b,
    "quad_form": lambda a, b: b.T * a * b,
    "quad_form_symmetric": lambda a, b: b.T * symmetric(a) * b,
    "trace_of_product": lambda a, b: scalar(mp.fsum((a * b)[i, i] for i in range(a.rows))),
    "kronecker": kronecker,
    "inverse": mp.inverse,
    "determinant": lambda a: scalar(determinant(a)),
    "log_determinant": lambda a: scalar(mp.log(abs(determinant(a)))),
    "solve": solve,
    "solve_triangular": lambda a, b: solve(lower_triangle(a), b),
    "solve_triangular_transposed": lambda a, b: solve(lower_triangle(a.T, unit=True), b),
    "matrix_exp": mp.expm,
    "log_determinant_spd": lambda a: scalar(mp.log(determinant(symmetric(a)))),
    "solve_spd": lambda a, b: solve(symmetric(a), b),
    "cholesky": lambda a: mp.cholesky(symmetric(a)),
    "ldlt": ldlt,
    "qr": qr,
    "symmetric_eigen": symmetric_eigen,
    "symmetric_eigenvalues": lambda a: symmetric_eigen(a)[0],
    "svd": svd,
    "singular_values": lambda a: svd(a)[1],
}

# Their algorithms mix the entries of a column, or of the matrix; those of the others leave small entries their digits.
COLUMNWISE = ["qr", "singular_values"]
MATRIXWISE = ["matrix_exp", "symmetric_eigen", "symmetric_eigenvalues", "svd"]


# ---- derivatives -------------------------------------------------------------------------------------------------------


def weights(n: int) -> list[float]:
    return [((7 * k + 3) % 11 - 4.5) / 4 for k in range(n)]


def direction(n: int) -> list[float]:
    return [((5 * k + 2) % 9 - 3.5) / 4 for k in range(n)]


@dataclass
class Quantity:
    """Numbers and their units."""

    numbers: list[mpf]
    units: list[mpf]


@dataclass
class Truth:
    """What one function is at one point; `point` has the entries of all arguments, `shapes` their shapes."""

    function: str
    name: str
    shapes: list[tuple[int, int]]
    point: list[float]
    w: list[float]
    v: list[float]
    value: Quantity
    gradient: Quantity
    curvature: Quantity


def changes(function: str, a: Numbers) -> list[mpf]:
    """What the entries are taken to be wrong by, as multiples of the precision."""
    columns = [[abs(mpf(row[j])) for row in a] for j in range(len(a[0]))]
    if function in COLUMNWISE:
        columns = [[max(column)] * len(column) for column in columns]
    if function in MATRIXWISE:
        columns = [[max(map(max, columns))] * len(column) for column in columns]
    return [size for column in columns for size in column]


def flat_function(name: str, shapes: list[tuple[int, int]]) -> Callable[[list[mpf]], list[mpf]]:
    """The function from the entries of all arguments to the entries of all results."""

    def flat(x: list[mpf]) -> list[mpf]:
        matrices, start = [], 0
        for rows, cols in shapes:
            matrices.append(mp.matrix([[x[start + i + j * rows] for j in range(cols)] for i in range(rows)]))
            start += rows * cols
        results = FUNCTIONS[name](*matrices)
        return [e for y in (results if isinstance(results, tuple) else (results,)) for e in entries(y)]

    return flat


def with_units(numbers: list[mpf], derivatives: list[list[mpf]], sizes: list[mpf]) -> Quantity:
    """`derivatives[j]`: of the numbers with respect to the j-th entry, which changes by `sizes[j]`."""
    units = [
        abs(number) + mp.fsum(abs(d[i]) * size for d, size in zip(derivatives, sizes, strict=True))
        for i, number in enumerate(numbers)
    ]
    # Differences of numbers of 200 digits leave something of a zero.
    units = [unit if unit > mpf(10) ** -60 * max(units) else mpf(0) for unit in units]
    settled = [x if unit > 0 and abs(x) > mpf(10) ** -40 * unit else mpf(0) for x, unit in zip(numbers, units, strict=True)]
    return Quantity(settled, units)


def truth(function: str, name: str) -> Truth:
    arguments = POINTS[function][name]
    shapes = [(len(a), len(a[0])) for a in arguments]
    point = [a[i][j] for a in arguments for j in range(len(a[0])) for i in range(len(a))]
    flat, n = flat_function(function, shapes), len(point)
    sizes = [size for a in arguments for size in changes(function, a)]
    with mp.workdps(DIGITS):
        x = [mpf(e) for e in point]
        value = flat(x)
        w, v, h = weights(len(value)), direction(n), STEP * max(sizes)

        def moved(*steps: tuple[int, int]) -> list[mpf]:
            at = list(x)
            for place, sign in steps:
                if place == n:  # the direction v
                    at = [e + sign * h * d for e, d in zip(at, v, strict=True)]
                else:
                    at[place] += sign * h
            return flat(at)

        def weighed(*steps: tuple[int, int]) -> mpf:
            return mp.fdot(w, moved(*steps))

        def difference(*places: int) -> mpf:
            """Of any order, of the weighed sum."""

            def part(rest: tuple[int, ...], steps: list[tuple[int, int]]) -> mpf:
                if not rest:
                    return weighed(*steps)
                return (part(rest[1:], [*steps, (rest[0], 1)]) - part(rest[1:], [*steps, (rest[0], -1)])) / (2 * h)

            return part(places, [])

        def table(*places: int) -> list[list[mpf]]:
            """The matrix of differences with respect to entries i and j, and `places`."""
            half = {(i, j): difference(i, j, *places) for i in range(n) for j in range(i + 1)}
            return [[half[max(i, j), min(i, j)] for i in range(n)] for j in range(n)]

        slopes = [[(a - b) / (2 * h) for a, b in zip(moved((j, 1)), moved((j, -1)), strict=True)] for j in range(n)]
        gradient = [mp.fdot(w, slope) for slope in slopes]
        hessian = table()
        curvature = [mp.fdot(v, row) for row in hessian]
        return Truth(
            function,
            name,
            shapes,
            point,
            w,
            v,
            with_units(value, slopes, sizes),
            with_units(gradient, hessian, sizes),
            with_units(curvature, table(n), sizes),
        )


# ---- the table ---------------------------------------------------------------------------------------------------------


def number(x: mpf | float) -> str:
    """As many digits as make a double."""
    return (repr(x) if isinstance(x, float) else mp.nstr(x, 17)).removesuffix(".0")


def lines(found: Truth) -> Iterator[str]:
    yield f"{found.function}: {found.name}"
    yield "shapes " + " ".join(f"{rows} {cols}" for rows, cols in found.shapes)
    for label, exact in (("x", found.point), ("w", found.w), ("v", found.v)):
        yield " ".join([label, *map(number, exact)])
    for label, quantity in (("value", found.value), ("gradient", found.gradient), ("curvature", found.curvature)):
        yield " ".join([label, *map(number, quantity.numbers)])
        yield " ".join([label + ".unit", *(mp.nstr(unit, 3).removesuffix(".0") for unit in quantity.units)])


def main() -> None:
    print("# Made by: python tests/python/matrix_reference.py > tests/reference/matrix.txt")
    for function, points in POINTS.items():
        for name in points:
            print("\n".join(lines(truth(function, name))), flush=True)


if __name__ == "__main__":
    main()
