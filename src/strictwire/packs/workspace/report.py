"""The required form of a failure report. Pure.

# Failure report
Session: <session_id>
Error code: <code>

## What happened
## Cause
## Next step
"""

from __future__ import annotations

import re
from typing import Final

from strictwire.packs.kit.path import parse_path

FOLDER: Final = ("docs", "reports")
"""Folder of the reports, below the root."""

MAX_BYTES: Final = 64 * 1024
"""Largest report: a person has to read it."""

_SECTIONS: Final = ("What happened", "Cause", "Next step")


def is_report_path(path: str) -> bool:
    """Return whether a path is that of a report: a Markdown file directly in docs/reports. Raises Refused if malformed."""
    asked = parse_path(path)
    return asked.segments[:-1] == FOLDER and asked.name.endswith(".md") and not asked.folder


def find_report_problem(text: str, *, session_id: str, code: str | None) -> str | None:
    """Return what is wrong with a report, as a sentence; None if it is valid. Without a code, any code is accepted."""
    lines = [line.strip() for line in text.splitlines()]
    if not lines or lines[0] != "# Failure report":
        return "the first line must be '# Failure report'"
    if f"Session: {session_id}" not in lines:
        return f"a line 'Session: {session_id}' is missing"
    if not any(_is_code_line(line, code) for line in lines):
        return f"a line 'Error code: {code or '<code>'}' is missing"
    missing = [name for name in _SECTIONS if not _body(lines, name)]
    return f"the section '## {missing[0]}' is missing or empty" if missing else None


def _is_code_line(line: str, code: str | None) -> bool:
    return bool(re.fullmatch(rf"Error code: {re.escape(code) if code else '[A-Z][A-Z_]+'}", line))


def _body(lines: list[str], section: str) -> str:
    if f"## {section}" not in lines:
        return ""
    after = lines[lines.index(f"## {section}") + 1 :]
    end = next((index for index, line in enumerate(after) if line.startswith("## ")), len(after))
    return "".join(after[:end])
