"""What all tests share: hypothesis draws the same examples at each run, and leaves no files behind."""

import hypothesis

hypothesis.settings.register_profile("agrad", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("agrad")
