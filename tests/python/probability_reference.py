"""One term of each density, mass or distribution function by mpmath, and values of its arguments, from the rows."""

import functools
from collections.abc import Callable, Sequence

import mpmath

from agrad._core import density_rows
from elementwise_reference import owens_t
from stored_references import stored

ROWS = {row.name: row for row in density_rows()}
REAL = [-30.0, -2.5, -0.3, 0.03, 0.4, 1.0, 7.5]
POSITIVE = [0.02, 0.4, 1.0, 2.5, 12.0]
#: Values to choose from, by the condition on an argument.
VALUES = {
    "a number, not nan": REAL,
    "finite": REAL,
    "positive": POSITIVE,
    "positive and finite": POSITIVE,
    "nonnegative": POSITIVE,
    "nonnegative and finite": POSITIVE,
    "a whole number": [0.0, 1.0, 2.0, 5.0, 17.0],
    "a whole number, not negative": [0.0, 1.0, 2.0, 5.0, 17.0],
    "a whole number between 0 and 8388607": [0.0, 1.0, 2.0, 5.0, 17.0],
    "a whole number below 1e12": [0.0, 1.0, 2.0, 5.0, 17.0],
    "positive and at most 1e12": POSITIVE,
    "0 or 1": [0.0, 1.0],
    "between -pi and pi": [-3.0, -1.2, 0.03, 0.9, 2.8],
    "between 0 and 1": [0.01, 0.3, 0.5, 0.9],
    "between 0 and 1, not 0 or 1": [0.01, 0.3, 0.5, 0.9],
}


def _upper_gamma(a: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    if x > 1e-3:
        return mpmath.gammainc(a, x, mpmath.inf, regularized=True)
    with mpmath.extradps(60):  # mpmath's integral takes seconds at small x
        return 1 - mpmath.gammainc(a, 0, x, regularized=True)


def skew_normal(z: mpmath.mpf, alpha: mpmath.mpf) -> mpmath.mpf:
    """Return the skew normal distribution function; ValueError where its two terms cancel too many digits."""
    if z * z * (1 + alpha**2) > 200:
        raise ValueError
    with mpmath.extradps(60):
        return mpmath.ncdf(z) - 2 * owens_t(z, alpha)


@functools.lru_cache(maxsize=64)
def _shares_of_waves(kappa: mpmath.mpf, digits: int) -> list[mpmath.mpf]:
    """Return I_j(kappa) / (j I_0(kappa)) for j = 1, 2, ... up to those below the precision, by the recurrence of the ratios."""
    ratio, ratios = mpmath.mpf(0), []  # I_j / I_(j - 1), from a j on where it hardly counts
    for j in range(int(2 * kappa) + 4 * digits, 0, -1):
        ratio = 1 / (2 * j / kappa + ratio)
        ratios.append(ratio)
    shares, product = [], mpmath.mpf(1)
    for j, ratio in enumerate(reversed(ratios), 1):
        product *= ratio
        shares.append(product / j)
        if shares[-1] < mpmath.eps:
            break
    return shares


def arc_probability(begin: mpmath.mpf, end: mpmath.mpf, kappa: mpmath.mpf) -> mpmath.mpf:
    """Return the von Mises probability of the angles from begin to end, around a location of 0, by its Fourier series."""
    with mpmath.extradps(40):  # terms cancel in the tails
        first, last, total = mpmath.expj(begin), mpmath.expj(end), mpmath.mpf(0)
        at_first = at_last = mpmath.mpc(1)
        for share in _shares_of_waves(kappa, mpmath.mp.dps):
            at_first, at_last = at_first * first, at_last * last  # whose imaginary parts are sines of the multiples
            total += share * (at_last.imag - at_first.imag)
        return ((end - begin) / 2 + total) / mpmath.pi


def beta_neg_binomial_share(n: float, r: mpmath.mpf, alpha: mpmath.mpf, beta: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the probabilities of at most n failures and of more: the sum of the masses, and what it lacks from 1."""
    digits = 40
    while True:
        with mpmath.extradps(digits):
            term = mpmath.gammaprod([alpha + r, alpha + beta], [alpha, alpha + beta + r])
            lower = mpmath.mpf(0)
            for k in range(int(n) + 1):
                lower += term
                term *= (k + r) * (k + beta) / ((k + 1) * (alpha + beta + r + k))
            upper = 1 - lower
        if upper > mpmath.mpf(10) ** (20 - digits):
            return lower, upper
        digits *= 4


def skellam_share(n: float, mu1: mpmath.mpf, mu2: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the probabilities of a difference of at most n and of more: sums over the count that is subtracted."""
    digits = 40
    while True:
        with mpmath.extradps(digits):
            last = int(mu2 + 20 * mpmath.sqrt(mu2 * mpmath.mp.dps) + 4 * mpmath.mp.dps)
            of_first, first, cumulated = mpmath.exp(-mu1), 0, mpmath.mpf(0)
            of_second, lower = mpmath.exp(-mu2), mpmath.mpf(0)
            for k in range(last):
                while first <= n + k:
                    cumulated += of_first
                    first += 1
                    of_first *= mu1 / first
                lower += of_second * cumulated
                of_second *= mu2 / (k + 1)
            upper = 1 - lower
        if min(lower, abs(upper)) > mpmath.mpf(10) ** (20 - digits):
            return lower, upper
        digits *= 4


def _between(name: str) -> Callable[..., mpmath.mpf]:
    """Return the logarithm of a difference of distribution functions, with digits for ends that nearly coincide far out."""
    rule = name.removesuffix("_lbetween")
    has_cdf = f"{rule}_cdf" in ROWS  # beta_proportion has its logarithm alone
    of_row = reference(f"{rule}_cdf" if has_cdf else f"{rule}_lcdf")
    cdf = of_row if has_cdf else lambda *x: mpmath.exp(of_row(*x))
    step = int(ROWS[name].arguments[0][1].startswith(("a whole number", "0 or 1")))

    def of(lower: mpmath.mpf, upper: mpmath.mpf, *x: mpmath.mpf) -> mpmath.mpf:
        with mpmath.extradps(40):
            value = mpmath.log(cdf(upper, *x) - cdf(lower - step, *x))
        return +value

    return of


def reference(name: str) -> Callable[..., mpmath.mpf]:
    """Return one term of a function, computed by mpmath from the arguments in their order."""
    if name.endswith("_lbetween"):
        return _between(name)
    row = ROWS[name]
    names = {key: getattr(mpmath, key) for key in dir(mpmath) if not key.startswith("_")}
    names["lower_gamma"] = lambda a, x: mpmath.gammainc(a, 0, x, regularized=True)
    names["upper_gamma"] = _upper_gamma
    names |= {"skew_normal": skew_normal, "arc_probability": arc_probability}
    names |= {"beta_neg_binomial_share": beta_neg_binomial_share, "skellam_share": skellam_share}
    code = compile(row.reference, name, "eval")
    return lambda *x: mpmath.re(eval(code, names | dict(zip((of for of, _ in row.arguments), x, strict=True))))


def derivative(name: str, point: Sequence[float], orders: Sequence[int]) -> mpmath.mpf:
    """Return a derivative of one term of a function, of so many orders by each argument, in the precision of the caller."""
    of, exact = reference(name), tuple(map(mpmath.mpf, point))
    family = name.removesuffix("_lbetween")
    rows = [row for row in (f"{family}_lcdf", f"{family}_lccdf", f"{family}_cdf") if row in ROWS] if family != name else [name]
    expression = " | ".join(ROWS[row].reference for row in rows)
    by = tuple(map(int, orders))
    return stored(lambda: mpmath.diff(of, exact, by), name, expression, point, by)
