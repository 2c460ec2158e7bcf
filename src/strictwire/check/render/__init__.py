"""Report formats: text, JSON, SARIF, JUnit, GitHub annotations, Code Climate, Markdown. Each is a function of reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.check.render.codeclimate import render_codeclimate
from strictwire.check.render.github import render_github
from strictwire.check.render.json import render_json
from strictwire.check.render.junit import render_junit
from strictwire.check.render.markdown import render_markdown
from strictwire.check.render.sarif import render_sarif
from strictwire.check.render.statistics import render_statistics
from strictwire.check.render.text import render_colour, render_text

FORMATS: Final[Mapping[str, Callable[..., str]]] = MappingProxyType(
    {
        "text": render_text,
        "colour": render_colour,
        "json": render_json,
        "sarif": render_sarif,
        "junit": render_junit,
        "github": render_github,
        "markdown": render_markdown,
        "codeclimate": render_codeclimate,
        "statistics": render_statistics,
    }
)
"""Every format by its name, as a function of one or more reports.

`colour` is `text` with ANSI colours; the CLI chooses it on a terminal.
"""
