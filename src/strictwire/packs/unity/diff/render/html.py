"""A difference as one HTML page without scripts or outside resources."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from strictwire.fault.escape import for_terminal
from strictwire.packs.unity.diff.model import FileDiff, ProjectDiff
from strictwire.packs.unity.diff.render.lines import SIGNS, Line, describe_file, file_notes, group_changes, summarise

_STYLE: Final = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; max-width: 70em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; border-bottom: 1px solid #8884; padding-bottom: .2em; }
ul { list-style: none; padding-left: 1.2em; } li { margin: .1em 0; }
code { font: 13px ui-monospace, monospace; background: #8882; padding: 0 .25em; overflow-wrap: anywhere; }
.added { color: #18794e; } .removed { color: #c62a2f; } .moved, .reordered { color: #0b68cb; } .changed { color: #946800; }
.note { color: #c62a2f; font-weight: bold; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }
"""

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(diff: ProjectDiff) -> str:
    """The whole page."""
    title = escape(for_terminal(f"Unity changes: {diff.before} → {diff.after}"))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            f"<h1>{title}</h1>",
            f"<p>{escape(summarise(diff))}</p>",
            *(line for file in diff.files for line in _file(file)),
            "</body>",
            "</html>",
            "",
        ]
    )


def _file(file: FileDiff) -> Iterator[str]:
    yield "<section>"
    yield f"<h2>{describe_file(file, code)}</h2>"
    for note in file_notes(file):
        yield f'<p class="note">{escape(for_terminal(note))}</p>'
    yield "<ul>"
    for group in group_changes(file.changes, code):
        name = code(group.title) if group.title else "(settings)"
        yield f"<li>{_signed(group.head, f'{name}: {group.head.text}') if group.head else name}"
        if group.lines:
            yield "<ul>"
            yield from (f"<li>{_signed(line, line.text)}</li>" for line in group.lines)
            yield "</ul>"
        yield "</li>"
    yield "</ul>"
    yield "</section>"


def _signed(line: Line, text: str) -> str:
    return f'<span class="{line.action.value}">{SIGNS[line.action].replace(">", "&gt;")}</span> {text}'


def code(text: str) -> str:
    """A name or value, escaped."""
    return f"<code>{escape(for_terminal(text))}</code>"
