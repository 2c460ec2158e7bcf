"""A difference as one JSON object, for programs."""

from __future__ import annotations

from strictwire.canon.json import indent, render
from strictwire.packs.unity.diff.model import ProjectDiff


def render_json(diff: ProjectDiff) -> str:
    """Stable member order; two spaces."""
    return indent(render(diff.as_json())).decode() + "\n"
