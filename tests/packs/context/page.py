"""docs/CONTEXT-V0.md: every rule of Context Resolve v0 with the tests that prove it, made from the marks."""

from __future__ import annotations

from typing import Final

from tests.packs.context.v0 import RULES, SECTIONS
from tests.requirements.page import ROOT, find_marks

PAGE: Final = ROOT / "docs" / "CONTEXT-V0.md"
SHOWN: Final = 3
"""Tests named in a row; the rest are counted."""

INTRODUCTION: Final = """# Context Resolve v0, rule by rule

What `context.resolve`, `context.list_caches`, `context.inspect_cache`, the verbs of `strictwire context` and
`strictwire serve --pack context --exact-v0` promise, and the tests that prove it. Made by `scripts/context-page` from the
marks of the tests; a rule without a test fails the suite. How to use all this is told in [CONTEXT.md](CONTEXT.md).
"""


def section_of(rule: str) -> str:
    """`1.10.2` belongs to `1.10`, `2.3` to `2`."""
    return rule.rpartition(".")[0]


def render_page() -> str:
    """The whole page."""
    marks = find_marks("v0")
    parts = [INTRODUCTION]
    for section, title in SECTIONS.items():
        rows = [_row(rule, marks.get(rule, [])) for rule in RULES if section_of(rule) == section]
        parts.append("\n".join([f"## {section} {title}", "", "| rule | promise | proved by |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _row(rule: str, tests: list[str]) -> str:
    shown = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests[:SHOWN])
    more = f"<br>and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
    return f"| {rule} | {RULES[rule]} | {shown + more or '**open**'} |"


def write() -> None:
    """Bring the page up to date."""
    PAGE.write_text(render_page(), encoding="utf-8")
