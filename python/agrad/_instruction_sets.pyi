"""The instruction sets that the compiled module may use."""

of_build: dict[str, bool]  # whether this processor has each
