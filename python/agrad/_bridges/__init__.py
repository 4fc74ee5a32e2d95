"""Functions and models for other tools: samplers, optimizers and other systems of derivatives."""
