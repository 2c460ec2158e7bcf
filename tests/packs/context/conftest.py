"""Property tests here are bounded by their number of examples, not by the clock of a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("context", deadline=None)
settings.load_profile("context")
