"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# Time is measured in benchmarks: on a busy machine a limit for each example would fail tests that are right.
settings.register_profile("strictwire", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=2000)  # ./scripts/test -m hypothesis --hypothesis-profile deep
settings.load_profile("strictwire")
