"""Elementwise functions of numbers, NumPy arrays and recorded arrays: a function for each rule of the compiled part.

Names, arguments, texts and domains come from the rules; this module has no list of its own. A function that Stan has under
another name has that name, too.
"""

from agrad._core import elementwise_rows
from agrad._rule_function import function_of

_rows = elementwise_rows()
globals().update({row.name: function_of(row) for row in _rows})
globals().update({row.stan: globals()[row.name] for row in _rows if row.stan})
__all__ = [row.name for row in _rows] + [row.stan for row in _rows if row.stan]
