"""Random programs of NumPy's functions, loops, branches, linear algebra, custom and nested derivatives, and witnesses.

    cd tests/python && python -m random_programs 1000000

takes so many of them, on all cores, and prints those whose derivatives are not what differences say.
"""

from random_programs.program import RandomProgram

__all__ = ["RandomProgram"]
