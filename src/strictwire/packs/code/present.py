"""From a result to the answer that leaves the pack: structured content, text, and the size of both.

`code_*` answers carry evidence (engines, completeness) and a compact text. `vscode_lsp_*` answers are exactly those of
A.1, with the summary as the only text; the engines that answered are in `_meta`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.compact import symbol_lines
from strictwire.packs.code.answers.summaries import one_line
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.found import Evidence, Found
from strictwire.packs.code.limits import ENVELOPE_BYTES, HEAD_BYTES, ToolSettings
from strictwire.packs.code.uri import render_file_uri

Lines: TypeAlias = Callable[[JsonObject, Sequence[str]], list[str]]
"""The body of the compact text, from the members of an answer and the URIs of the roots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presenter:
    """How answers look."""

    settings: ToolSettings
    roots: tuple[str, ...]
    """URIs that end in a slash, sorted."""

    @classmethod
    def make(cls, settings: ToolSettings, roots: Sequence[Path]) -> Presenter:
        """The presenter of some roots."""
        return cls(settings=settings, roots=tuple(sorted(render_file_uri(root).rstrip("/") + "/" for root in roots)))

    @property
    def page_bytes(self) -> int:
        """What the items of a page may take: half of a response, because a compact text is never longer than its items."""
        room = self.settings.max_response_bytes - ENVELOPE_BYTES - HEAD_BYTES
        return room if self.settings.drop_in else room // 2

    def answer(self, found: Found, lines: Lines) -> Answer:
        """The answer. Raises Refused: CAP_EXCEEDED, it is larger than a response may be."""
        made = self._make(found, lines)
        if not self._is_small(made):
            raise Refused(fail("CAP_EXCEEDED", text="Response exceeded maxResponseBytes."))
        return made

    def fits(self, found: Found, lines: Lines) -> bool:
        """Whether the answer is within the size of a response."""
        return self._is_small(self._make(found, lines))

    def _make(self, found: Found, lines: Lines) -> Answer:
        return self._drop_in(found) if self.settings.drop_in else self._extended(found, lines)

    def _is_small(self, answer: Answer) -> bool:
        """Counts structured content, text and `_meta`, and leaves room for the envelope around them."""
        parts: tuple[JsonValue, ...] = (answer.structured, list(answer.content), dict(answer.meta))  # type: ignore[assignment]
        return sum(len(render(part)) for part in parts) + ENVELOPE_BYTES <= self.settings.max_response_bytes

    def _drop_in(self, found: Found) -> Answer:
        text = one_line(found.members.get("summary"))
        return Answer(
            structured=found.members,
            content=({"type": "text", "text": text},),
            meta={"strictwire/engines": found.evidence.as_json()["engines"]},
        )

    def _extended(self, found: Found, lines: Lines) -> Answer:
        members = found.members | found.evidence.as_json()
        body = lines(found.members, self.roots)
        if found.candidates is not None:
            members["candidates"] = list(found.candidates)
            body += symbol_lines(found.candidates, self.roots)
        text = "\n".join([headline(found.members.get("summary", ""), found.evidence), *body])
        cursor = found.members.get("nextCursor")
        if cursor is not None:
            text += f"\nnextCursor {cursor}"
        return Answer(structured=members, content=({"type": "text", "text": text},))


def headline(summary: str, evidence: Evidence) -> str:
    """The first line: the summary, the completeness and the engines."""
    engines = ", ".join(dict.fromkeys(f"{each.name} {each.version}" for each in evidence.engines))
    parts = [summary, f"{evidence.completeness.value.capitalize()}{f' ({engines})' if engines else ''}."]
    if evidence.unconfirmed:
        parts.append(f"{evidence.unconfirmed} unconfirmed mention{'' if evidence.unconfirmed == 1 else 's'}.")
    if evidence.outside:
        parts.append(f"{evidence.outside} outside the roots, not shown.")
    if evidence.completeness is Completeness.WARMING:
        parts.append("The engine is still indexing; call again for more.")
    if evidence.note:
        parts.append(f"{evidence.note}.")
    return " ".join(part for part in parts if part)
