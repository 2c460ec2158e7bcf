"""Differences as text, JSON, Markdown and HTML. Each is a function from a ProjectDiff to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.packs.unity.diff.model import ProjectDiff
from strictwire.packs.unity.diff.render.html import render_html
from strictwire.packs.unity.diff.render.json import render_json
from strictwire.packs.unity.diff.render.markdown import render_markdown
from strictwire.packs.unity.diff.render.text import render_colour, render_text

DIFF_FORMATS: Final[Mapping[str, Callable[[ProjectDiff], str]]] = MappingProxyType(
    {
        "text": render_text,
        "colour": render_colour,
        "json": render_json,
        "markdown": render_markdown,
        "html": render_html,
    }
)
"""Every format by its name on the command line; `colour` is text for a terminal."""
