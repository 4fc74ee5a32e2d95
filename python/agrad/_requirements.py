"""Imported before the compiled module: raises ImportError where NumPy is too old for agrad."""

import numpy as np

LEAST = (2, 0)


def check_numpy(version: str) -> None:
    """Raise ImportError unless the version of NumPy is new enough.

    NumPy 1 takes the right-hand side of ``np.linalg.solve`` for vectors where it has one axis fewer than a stack of matrices,
    and NumPy 2 only where it has one axis: recorded and plain values would differ without an error.
    """
    if int(version.partition(".")[0]) < LEAST[0]:
        least = ".".join(map(str, LEAST))
        raise ImportError(
            f"import agrad: NumPy is of version {version}, but must be of version {least} or newer, in which np.linalg.solve "
            f"takes stacks in another way; pip install 'numpy>={least}'"
        )


check_numpy(np.__version__)
