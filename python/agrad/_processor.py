"""Imported before the compiled module: raises ImportError where this processor lacks instructions that the module has."""

from agrad._instruction_sets import of_build

_missing = [name for name, is_here in of_build.items() if not is_here]
if _missing:
    raise ImportError(
        f"import agrad: the processor has no {', '.join(_missing)}, but must have all that the module was compiled for "
        f"({', '.join(of_build)}); build agrad on this machine, or once for all processors: "
        "pip install . --config-settings=cmake.define.AGRAD_NATIVE=OFF"
    )
