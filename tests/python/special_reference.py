"""Special functions by mpmath where its own fail or take far longer, for elementwise_reference.py."""

import functools
import math
from typing import Any

import scipy.special
from mpmath import mp

MOST_DIGITS = 1600


class UndefinedError(Exception):
    """The function has no real value there."""


def lower_gamma(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function; mpmath's own fails where a or x is very large or very small."""
    if x == 0:
        return mp.mpf(0)
    if x > 100 and x > 1.1 * a:
        return 1 - upper_gamma(a, x)
    term = total = mp.mpf(1)
    k = 0
    while k < x - a or term > total * mp.eps:
        k += 1
        term *= x / (a + k)
        total += term
        if k > 100_000:
            raise UndefinedError("too many terms")
    return total * mp.exp(a * mp.log(x) - x - mp.loggamma(1 + a))


def upper_gamma(a: Any, x: Any) -> Any:
    """1 - lower_gamma(a, x): by DLMF 8.9.2, or with as many digits as the difference takes."""
    if a == 0:
        return mp.mpf(x == 0)
    if not (x > 100 and x > 1.1 * a):
        with mp.extradps(int(20 + min(x, 1000) + max(0, -mp.log10(a)))):
            return 1 - lower_gamma(a, x)
    b, c = x + 1 - a, mp.inf
    d = product = 1 / b
    k, factor = 0, mp.mpf(0)
    while abs(factor - 1) > 100 * mp.eps:
        k += 1
        b += 2
        d = 1 / (b - k * (k - a) * d)
        c = b - k * (k - a) / c
        factor = c * d
        product *= factor
    return product * mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def lower_beta(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function by DLMF 8.17.8, in whole numbers of 2^-bits; mpmath's own takes far longer."""
    if not 0 <= x <= 1:
        raise UndefinedError("outside of the domain")
    if x in (0, 1) or a == 0 or b == 0:
        return mp.mpf(x == 1 if x in (0, 1) else a == 0)
    if a == b and x == mp.mpf(0.5):
        return mp.mpf(0.5)  # by symmetry
    if a + b > mp.mpf("1e300") and abs(x * (a + b) - a) > 1e-9 * a:
        return mp.mpf(x > a / (a + b))  # a step at the mean
    if x > a / (a + b) and (x > 0.1 or (a + b) * x > 10_000):  # the other series converges sooner
        with mp.extradps(20):
            upper = lower_beta(b, a, 1 - x)
        if upper > 0.99:
            with mp.extradps(int(20 - mp.log10(1 - upper)) if upper < 1 else MOST_DIGITS):
                return 1 - lower_beta(b, a, 1 - x)
        return 1 - upper
    bits = mp.prec + 20
    term = total = 1 << bits
    fraction, sum_of, below = (int(mp.ldexp(t, bits)) for t in (x, a + b, a + 1))
    for k in range(5_000):
        term = (term * fraction >> bits) * (sum_of + (k << bits)) // (below + (k << bits))
        total += term
        if term == 0:
            break
    else:
        raise UndefinedError("too many terms")
    powers = float(a * mp.log(x) + b * mp.log1p(-x)) + math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b)
    if powers + (total.bit_length() - bits) * math.log(2) < -4000:
        return mp.mpf(0)  # below the last of the digits
    if a + b < 1000:
        scale = mp.gamma(a + b) * mp.rgamma(a + 1) * mp.rgamma(b)
    else:
        scale = mp.exp(mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b))
    return mp.ldexp(total, -bits) * scale * x**a * (1 - x) ** b


def lower_beta_inverse(a: Any, b: Any, p: Any) -> Any:
    """The inverse of lower_beta by Halley's method on logarithms, of the smaller tail; the start is a power of p or SciPy's."""
    if not (a > 0 and b > 0 and 0 <= p <= 1):
        raise UndefinedError("outside of the domain")
    if p in (0, 1):
        return mp.mpf(p)
    if p > 0.5:
        return 1 - lower_beta_inverse(b, a, 1 - p)
    if a == b and (p == 0.5 or a > mp.mpf("1e280")):
        return mp.mpf(0.5)  # by symmetry, or a step there
    if max(a, b) > 1e200 * max(min(a, b), 1):  # a gamma distribution in the limit
        return 1 - _upper_gamma_inverse(b, p) / a if a > b else _lower_gamma_inverse(a, p) / b
    x = _start_of_inverse(float(a), float(b), float(p))
    for _ in range(12):
        step = _halley_step(a, b, p, x)
        x *= mp.exp(-step)
        if abs(step) <= mp.eps ** (2 / 5) * max(1, -mp.log(x)):
            return x
    raise UndefinedError("Halley's method does not converge")


def _lower_gamma_inverse(a: Any, p: Any) -> Any:
    """The inverse of lower_gamma, to the digits of SciPy's or as the power of p that it is close to 0."""
    power = mp.exp((mp.log(p) + mp.loggamma(a + 1)) / a)
    return power if power < 1e-20 else mp.mpf(float(scipy.special.gammaincinv(float(a), float(p))))


def _upper_gamma_inverse(a: Any, p: Any) -> Any:
    """The inverse of upper_gamma, with Newton steps for tiny p, where SciPy's has no digits."""
    if (close := _lower_gamma_inverse(a, 1 - p)) < 1e-20:
        return close
    if a < mp.mpf("1e-200") and p < 10 * a:  # the upper tail is a times the exponential integral
        return mp.exp(mp.findroot(lambda x: mp.log(mp.e1(mp.exp(x)) * a / p), 0))
    x = mp.mpf(float(scipy.special.gammainccinv(float(a), max(float(p), 1e-300))))
    for _ in range(5 if p < 1e-300 else 0):
        above = upper_gamma(a, x)
        x += mp.log(above / p) * above / mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
    return x


def _halley_step(a: Any, b: Any, p: Any, x: Any) -> Any:
    """The step in log(x) towards lower_beta(a, b, x) = p, by Halley's method for the logarithm."""
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    below = lower_beta(a, b, x)
    if below == 0 or x >= 1:
        raise UndefinedError("below the last of the digits")
    excess, slope = mp.log(below / p), mp.exp(a * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta) / below
    bend = slope * (a - (b - 1) * x / (1 - x) - slope)
    return 2 * excess * slope / (2 * slope**2 - excess * bend)


@functools.lru_cache(maxsize=256)
def _start_of_inverse(*point: float) -> Any:
    """The inverse at a point of doubles to 40 digits."""
    with mp.workdps(50):
        a, b, p = map(mp.mpf, point)
        log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
        x = mp.exp((mp.log(p) + mp.log(a) + log_beta) / a)
        if x * max(b, 1) > 1e-3:
            if a + b > 200_000:
                raise UndefinedError("too many terms")
            x = mp.mpf(float(scipy.special.betaincinv(*point)))
        if not 0 < x < 1 - 1e-12:  # SciPy's value has no digits
            low, high = mp.mpf(0), mp.mpf(1)
            for _ in range(30):
                x = (low + high) / 2
                low, high = (x, high) if lower_beta(a, b, x) < p else (low, x)
        for _ in range(40):
            step = _halley_step(a, b, p, x)
            x *= mp.exp(-step)
            if abs(step) < 1e-25 * max(1, -mp.log(x)):
                return x
        raise UndefinedError("Halley's method does not converge")


def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function by its series in h (Owen 1956, equation 3.9), beyond a = 1 from that of 1 / a."""
    if h**2 > 400 or not mp.isfinite(a):
        raise UndefinedError("too many terms")
    if abs(a) > 1:
        rest = (mp.ncdf(h) + mp.ncdf(a * h)) / 2 - mp.ncdf(h) * mp.ncdf(a * h) - (a < 0) / mp.mpf(2)
        return rest - (owens_t_series(a * h, 1 / a) if (a * h) ** 2 < 4 * mp.dps else 0)
    return owens_t_series(h, a)


def owens_t_series(h: Any, a: Any) -> Any:
    """The series for abs(a) <= 1, in whole numbers of 2^-bits, which take a tenth of the time."""
    square = h**2 / 2
    with mp.extradps(int(square) + 20):
        bits = mp.prec
        step, ratio, term, rest = (int(mp.ldexp(x, bits)) for x in (square, a * a, mp.exp(-square), -mp.expm1(-square)))
        power, total, k = 1 << bits, 0, 0
        while k < square or rest * power >> bits > 0:
            total += (-1) ** k * (rest * power >> bits) // (2 * k + 1)
            k += 1
            term = (term * step >> bits) // k
            rest -= term
            power = power * ratio >> bits
        return (mp.atan(a) - a * mp.ldexp(total, -bits)) / (2 * mp.pi)


def bessel_j(n: int, x: Any) -> Any:
    """J of order n, where mpmath takes few terms."""
    if not abs(x) < 1e6:
        raise UndefinedError("too many digits")
    return mp.besselj(n, x, maxprec=100_000)


def bessel_y(n: int, x: Any) -> Any:
    """Y0 and Y1 by DLMF 10.8.1, the others by recurrence; mpmath's own takes limits in n, with many more digits."""
    if not 0 < x < 1e3:
        raise UndefinedError("too many digits")
    with mp.extradps(int(x) + 20):
        square, log, term, harmonic = x**2 / 4, mp.log(x / 2) + mp.euler, mp.mpf(1), mp.mpf(0)
        before, here, k = mp.mpf(0), mp.mpf(0), 0
        while k < x or abs(term) > mp.eps**2:
            before += term * (log - harmonic)
            here += term / (k + 1) * (2 * log - 2 * harmonic - mp.mpf(1) / (k + 1))
            k += 1
            term *= -square / k**2
            harmonic += mp.mpf(1) / k
        before, here = 2 / mp.pi * before, (-2 / x + x / 2 * here) / mp.pi
        for k in range(1, abs(n)):
            before, here = here, 2 * k / x * here - before
        return before if n == 0 else here if n > 0 else (-1) ** n * here


def bessel_k(n: int, x: Any) -> Any:
    """K0 or K1 by DLMF 10.31 and 10.40.2; mpmath's own takes limits in n, with many more digits."""
    if x == 0:
        return mp.inf
    if x > 1000:
        term = total = mp.mpf(1)
        k = 0
        while abs(term) > mp.eps:
            k += 1
            term *= mp.mpf(4 * n - (2 * k - 1) ** 2) / (8 * x * k)
            total += term
        return mp.sqrt(mp.pi / (2 * x)) * mp.exp(-x) * total
    with mp.extradps(int(x) + 20):
        minus_log, harmonic, term, total, k = -mp.log(x / 2) - mp.euler, mp.mpf(0), mp.mpf(1), mp.mpf(0), 0
        while k < x or term > mp.eps:
            shift = mp.mpf(1) / (2 * k + 2) if n == 1 else 0
            total += term / (k + 1) ** n * (minus_log + harmonic + shift)
            k += 1
            term *= x**2 / (4 * k**2)
            harmonic += mp.mpf(1) / k
        return total if n == 0 else 1 / x - x / 2 * total


def bessel_k_of_order(v: Any, x: Any) -> Any:
    """DLMF 10.27.4 with as many digits as the difference takes; mpmath's own takes more."""
    if x > 0 and abs(exponent := abs(v) * mp.asinh(abs(v) / x) - mp.hypot(v, x)) > 10_000:
        return mp.exp(exponent)  # beyond all doubles, as its derivatives, by DLMF 10.41.4
    if 0 < x < 1e-3 and abs(v) < 4:
        return mp.besselk(v, x)
    if not (0 < x < 700 and abs(v) < 700 and v != mp.floor(v)):
        raise UndefinedError("too many digits")
    with mp.extradps(int(x - min(0, mp.log10(abs(mp.sinpi(v)))) + 40)):
        square = x**2 / 4

        def bessel_i(v: Any) -> Any:
            term = total = mp.mpf(1)
            k = 0
            while abs(term) > mp.eps * abs(total) or k < -v:
                k += 1
                term *= square / (k * (k + v))
                total += term
            return total * (x / 2) ** v * mp.rgamma(1 + v)

        return mp.pi / 2 * (bessel_i(-v) - bessel_i(v)) / mp.sinpi(v)


def log_bessel_i(v: Any, x: Any) -> Any:
    """The logarithm of I of order v >= -1 by the power series, and for far larger arguments by DLMF 10.40.1."""
    if v < -1 or x < 0:
        raise UndefinedError("outside of the domain")
    if v == -1:
        v = mp.mpf(1)
    if x == 0:
        return mp.mpf(0) if v == 0 else -mp.sign(v) * mp.inf
    square = x**2 / 4
    if x < 300 or square < 100 * v:
        return v * mp.log(x / 2) - mp.loggamma(v + 1) + mp.log(bessel_i_sum(v, x))
    if v**2 > x / 100 or x < 20 * mp.dps:
        raise UndefinedError("too many terms")
    term = total = mp.mpf(1)
    k = 0
    while abs(term) > mp.eps:
        k += 1
        term *= -(4 * v**2 - (2 * k - 1) ** 2) / (8 * x * k)
        total += term
    return x - mp.log(2 * mp.pi * x) / 2 + mp.log(total)


def bessel_i_sum(v: Any, x: Any) -> Any:
    """The power series of I without its first term's factor (x / 2)^v / gamma(v + 1)."""
    term = total = mp.mpf(1)
    square, k = x**2 / 4, 0
    while abs(term) > mp.eps * abs(total) or k < -v:
        k += 1
        term *= square / (k * (k + v))
        total += term
    return total


def bessel_i_of_order(v: Any, x: Any) -> Any:
    """I of any order by the power series where that has few terms, and for far larger arguments by DLMF 10.40.1."""
    if v >= -1:
        if x > 0 and (exponent := mp.hypot(v, x) - v * mp.asinh(v / x)) > 10_000:
            return mp.exp(min(exponent, mp.mpf(1e6)))  # beyond all doubles
        return mp.exp(log_bessel_i(v, x))
    if v == mp.floor(v):
        return bessel_i_of_order(-v, x)
    if not (0 < x < 100 and v > -1000):
        raise UndefinedError("too many terms")
    with mp.extradps(int(2 * x) + 40):
        return bessel_i_sum(v, x) * (x / 2) ** v * mp.rgamma(1 + v)
