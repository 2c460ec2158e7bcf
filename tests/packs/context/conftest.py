"""Property tests are limited by the number of examples and have no deadline, which a busy machine could miss."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("context", deadline=None)
settings.load_profile("context")
