"""Report formats: text, JSON, SARIF, JUnit, GitHub annotations and Markdown. Each is a function from Report to str."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.check.finding import Report
from strictwire.check.render.github import render_github
from strictwire.check.render.json import render_json
from strictwire.check.render.junit import render_junit
from strictwire.check.render.markdown import render_markdown
from strictwire.check.render.sarif import render_sarif
from strictwire.check.render.statistics import render_statistics
from strictwire.check.render.text import render_colour, render_text

FORMATS: Final[Mapping[str, Callable[[Report], str]]] = MappingProxyType(
    {
        "text": render_text,
        "colour": render_colour,
        "json": render_json,
        "sarif": render_sarif,
        "junit": render_junit,
        "github": render_github,
        "markdown": render_markdown,
        "statistics": render_statistics,
    }
)
"""Every format by its name. `colour` is `text` with ANSI colours; the CLI chooses it on a terminal."""
