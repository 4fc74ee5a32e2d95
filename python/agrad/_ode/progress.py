"""Reports the progress of a long solve: to a bar of tqdm, or to a user's callable."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import isfinite
from typing import Any, NamedTuple

from agrad._core import SolveProgress

__all__ = ["Progress", "Reporter", "reporter_of"]

#: Whether there is a bar, or a callable of the time reached, the end and the name of the pass.
Progress = bool | Callable[[float, float, str], object]

_PATIENCE = 0.5  # seconds: a solve that is over sooner shows no bar


class _Calls:
    """A user's callable, in a single pass."""

    def __init__(self, call: Callable[[float, float, str], object], name: str, end: float, sign: float) -> None:
        self._call, self._name, self._end, self._sign = call, name, sign * end, sign

    def __call__(self, t: float) -> None:
        self._call(self._sign * t, self._end, self._name)

    def close(self) -> None:
        """There is nothing to close."""


class _Bar:
    """A bar of tqdm for a single pass; the length of the bar is the time span or the number of problems.

    A pass whose end is infinite, because nobody knows when it will end, has no bar but the time reached.
    """

    def __init__(self, tqdm: Any, function: str, what: str, name: str, begin: float, end: float, sign: float) -> None:
        self._begin, self._length, self._what, self._name = begin, abs(end - begin), what, f"{function} {name}"
        self._of_end = f" of {sign * end:.6g}" if isfinite(end) else ""
        share = "{percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]" if isfinite(self._length) else "[{elapsed}]"
        total = self._length if isfinite(self._length) else None
        self._bar = tqdm(total=total, desc=self._name, bar_format="{desc} " + share, leave=True)
        self._sign = sign

    def __call__(self, t: float) -> None:
        self._bar.n = min(abs(t - self._begin), self._length)
        self._bar.set_description_str(f"{self._name}: {self._what}{self._sign * t:.6g}{self._of_end}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Maker:
    """Creates a listener for each pass until `Reporter.forget` removes the factory `make`."""

    def __init__(self, make: Callable[[str, float, float], Callable[[float], None]]) -> None:
        self.make: Callable[[str, float, float], Callable[[float], None]] | None = make

    def __call__(self, name: str, begin: float, end: float) -> Callable[[float], None]:
        assert self.make is not None, "the solve is over"
        return self.make(name, begin, end)


class Reporter(NamedTuple):
    """The listeners for the progress of a solve, if any."""

    host: SolveProgress | None = None
    maker: _Maker | None = None

    def forget(self) -> None:
        """Removes the user's callable after a solve that does not run again, because the result keeps the solve alive.

        The callable may own the result; the garbage collector does not see this cycle, which goes through compiled objects.
        """
        if self.maker is not None:
            self.maker.make = None


def reporter_of(function: str, given: Progress, begin: float, end: float, what: str = "t = ", sign: float = 1.0) -> Reporter:
    """Returns the listeners for a solve from `begin` to `end`, maybe none; listeners get times multiplied by `sign`."""
    if given is False or given is None:
        return Reporter()
    if given is True:
        try:
            tqdm = import_module("tqdm.auto").tqdm
        except ImportError:
            hint = 'pip install "agrad[progress]", or pass a callable of (t, t_end, pass)'
            raise ImportError(f"{function}: progress is True, but tqdm is missing; {hint}") from None
        maker, patience = _Maker(lambda name, a, b: _Bar(tqdm, function, what, name, a, b, sign)), _PATIENCE
    elif callable(given):
        maker, patience = _Maker(lambda name, a, b: _Calls(given, name, b, sign)), 0.0
    else:
        raise TypeError(f"{function}: progress is {given!r}, but must be True, False or callable as progress(t, t_end, pass)")
    return Reporter(SolveProgress(maker, patience, begin, end), maker)
