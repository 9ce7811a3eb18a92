"""What all tests share: Hypothesis without randomness, so that two runs test the same."""

from hypothesis import settings

settings.register_profile("course", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("course")
