"""Where functions of matrices are compared with mpmath: ordinary matrices, graded ones, and nearly degenerate ones."""

Numbers = list[list[float]]

VECTOR = [[0.5], [-1.25], [2.0], [0.1], [1.75]]
FAR_APART = [[1000.0], [999.5], [970.0], [900.0]]
GENERAL_2 = [[2.0, -1.0], [0.5, 3.0]]
GENERAL_3 = [[0.3, -1.2, 2.5], [1.1, 0.4, -0.7], [-2.0, 0.9, 1.6]]
GENERAL_4 = [[1.2, 0.3, -0.8, 2.1], [-0.4, 0.9, 1.5, 0.2], [0.7, -1.1, 0.6, 1.3], [2.2, 0.5, -0.3, -0.9]]
GRADED = [[2.0, 3e-3, -1e-5], [1e-3, -4e-5, 2e-8], [3e-6, 5e-8, 7e-10]]
NEARLY_SINGULAR = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.00001]]
SINGULAR = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
RANK_1 = [[1.0, 2.0, -3.0], [2.0, 4.0, -6.0], [-0.5, -1.0, 1.5]]
SYMMETRIC = [[1.5, -0.4, 0.8], [-0.4, -2.0, 0.3], [0.8, 0.3, 0.7]]
SPD_2 = [[2.0, 0.6], [0.6, 1.0]]
SPD_4 = [[4.0, 1.0, -0.5, 0.3], [1.0, 3.0, 0.7, -0.2], [-0.5, 0.7, 2.0, 0.4], [0.3, -0.2, 0.4, 1.0]]
SPD_GRADED = [[1.0, 2e-4, 3e-8], [2e-4, 1e-7, -2e-12], [3e-8, -2e-12, 1e-14]]
HILBERT = [[1 / (i + j + 1) for j in range(3)] for i in range(3)]
CLOSE_2 = [[2.0, 1e-3], [1e-3, 2.0]]
VERY_CLOSE = [[2.0, 1e-7], [1e-7, 2.0]]
CLOSE_3 = [[1.0, 2e-4, 0.01], [2e-4, 1.001, 0.02], [0.01, 0.02, 3.0]]
TALL = [[1.0, 0.2], [-0.5, 1.5], [0.3, 0.8]]
DEPENDENT = [[1.0, 1.00001], [2.0, 2.0], [-1.0, -1.0]]
TALL_GRADED = [[1.0, 2e-4, 1e-9], [-2.0, 1e-4, 3e-8], [0.5, -3e-4, 2e-8], [1.5, 2e-5, -1e-8]]
WIDE = [[1.0, 0.2, -0.6], [-0.5, 1.5, 0.9]]
RIGHT_3 = [[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]]
RIGHT_4 = [[1.0], [-2.0], [0.5], [0.75]]


def scaled(factor: float, a: Numbers) -> Numbers:
    return [[factor * x for x in row] for row in a]


ANY = {"2x2": [GENERAL_2], "3x3": [GENERAL_3], "4x4": [GENERAL_4], "graded": [GRADED], "nearly singular": [NEARLY_SINGULAR]}
SPD = {"2x2": [SPD_2], "4x4": [SPD_4], "graded": [SPD_GRADED], "Hilbert": [HILBERT]}
SPECTRA = {
    "2x2": [SPD_2],
    "3x3": [SYMMETRIC],
    "close pair": [CLOSE_2],
    "very close pair": [VERY_CLOSE],
    "close among others": [CLOSE_3],
}
ANY_SHAPE = ANY | {"tall": [TALL], "wide": [WIDE], "nearly dependent": [DEPENDENT], "tall and graded": [TALL_GRADED]}
PAIRS = {"2x2, 2x3": [GENERAL_2, WIDE], "3x2, 2x2": [TALL, GENERAL_2]}
VECTORS = {"five": [VECTOR]}
TAILS = {"five": [VECTOR], "far apart": [FAR_APART], "equal": [[[1.5], [1.5]]]}


def with_right_sides(points: dict[str, list[Numbers]]) -> dict[str, list[Numbers]]:
    right = {2: [[1.0], [-0.5]], 3: RIGHT_3, 4: RIGHT_4}
    return {name: [a, right[len(a)]] for name, (a,) in points.items()}


POINTS: dict[str, dict[str, list[Numbers]]] = {
    "sum": VECTORS,
    "mean": VECTORS,
    "dot": {"five": [VECTOR, [[3.0], [0.7], [-0.2], [1.9], [0.4]]]},
    "squared_norm": VECTORS,
    "norm": {**VECTORS, "tiny": [scaled(1e-150, VECTOR)], "huge": [scaled(1e150, VECTOR)]},
    "prod": {**VECTORS, "a zero": [[[2.0], [0.0], [3.0], [5.0]]], "zeros": [[[2.0], [0.0], [0.0], [5.0]]]},
    "log_sum_exp": TAILS,
    "softmax": TAILS,
    "log_softmax": TAILS,
    "cumulative_sum": {**VECTORS, "cancelling": [[[1e8], [1.0], [-1e8]]]},
    "trace": {"3x3": [GENERAL_3]},
    "product": PAIRS,
    "quad_form": {"3x3": [GENERAL_3, RIGHT_3]},
    "quad_form_symmetric": {"3x3": [GENERAL_3, RIGHT_3]},
    "trace_of_product": {"2x3, 3x2": [WIDE, TALL]},
    "kronecker": {"2x2, 2x1": [GENERAL_2, [[1.5], [-0.3]]]},
    "inverse": ANY,
    "determinant": ANY | {"singular": [SINGULAR], "of rank 1": [RANK_1]},
    "log_determinant": ANY,
    "solve": with_right_sides(ANY),
    "solve_triangular": with_right_sides({"3x3": [GENERAL_3], "graded": [GRADED]}),
    "solve_triangular_transposed": with_right_sides({"3x3": [GENERAL_3]}),
    # One for each approximant, one that is squared four times, one far from normal, one nilpotent.
    "matrix_exp": {f"norm {norm}": [scaled(norm / 3.5, GENERAL_2)] for norm in (0.01, 0.15, 0.7, 1.5, 4.0)}
    | {"3x3": [scaled(10.0, GENERAL_3)], "not normal": [[[1.0, 100.0], [0.0, -1.0]]], "nilpotent": [[[0.0, 1.0], [0.0, 0.0]]]},
    "log_determinant_spd": SPD,
    "solve_spd": with_right_sides(SPD),
    "cholesky": SPD,
    "ldlt": SPD | {"indefinite": [SYMMETRIC]},
    "qr": ANY_SHAPE,
    "symmetric_eigen": SPECTRA,
    "symmetric_eigenvalues": SPECTRA,
    "svd": ANY_SHAPE,
    "singular_values": ANY_SHAPE,
}
