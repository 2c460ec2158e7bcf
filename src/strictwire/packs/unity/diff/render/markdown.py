"""A difference as Markdown, for comments on pull requests.

Names and values stand in code spans, where nothing has a meaning: no links, mentions, HTML or emphasis can get in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.fault.escape import for_markdown_code
from strictwire.packs.unity.diff.model import FileDiff, ProjectDiff
from strictwire.packs.unity.diff.render.lines import SIGNS, describe_file, file_notes, group_changes, summarise

MAX_MARKDOWN: Final = 60_000
"""Characters of a comment. GitHub refuses more than 65,536."""


def render_markdown(diff: ProjectDiff) -> str:
    """A heading, a summary, and a list for each file, cut at what a comment may hold."""
    head = f"## Unity changes\n\n{for_markdown_code(diff.before)} → {for_markdown_code(diff.after)}: {summarise(diff)}\n"
    lines: list[str] = []
    size = len(head)
    every = [line for file in diff.files for line in _file(file)]
    for number, line in enumerate(every):
        size += len(line) + 1
        if size > MAX_MARKDOWN:
            lines.append(f"\n… {len(every) - number:,} more lines; run `strictwire unity diff` for all of them.")
            break
        lines.append(line)
    return head + "\n".join(lines) + "\n"


def _file(file: FileDiff) -> Iterator[str]:
    yield ""
    yield f"### {describe_file(file, for_markdown_code)}"
    yield ""
    for note in file_notes(file):
        yield f"- **!** {for_markdown_code(note)}"
    for group in group_changes(file.changes, for_markdown_code):
        name = for_markdown_code(group.title) if group.title else "(settings)"
        # A sign on its own would begin a list or a quotation.
        yield f"- `{SIGNS[group.head.action]}` {name}: {group.head.text}" if group.head else f"- {name}"
        for line in group.lines:
            yield f"  - `{SIGNS[line.action]}` {line.text}"
