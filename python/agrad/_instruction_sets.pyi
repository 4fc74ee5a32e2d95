"""The instruction sets that the copies of the compiled module may use."""

builds: dict[str, dict[str, bool]]  # by folder, the best copy first: whether this processor has each set
