"""The fingerprint of a tool: one digest each for its input schema, output schema, texts and annotations.

docs/FINGERPRINT.md specifies it, so that other programs can compute the same digests. It covers what a server shows in
`tools/list`. Tier, roles and caps exist only in our contracts and not on the wire, so they are not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from strictwire.canon.digest import digest_bytes
from strictwire.canon.jcs import render_canonical
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.subschemas import schema_texts, strip_text
from strictwire.contract.tool import ToolContract

VERSION: Final = 1
"""The version of the specification in docs/FINGERPRINT.md."""


class Aspect(StrEnum):
    """A part of a tool that has a digest of its own."""

    INPUT = "input"
    OUTPUT = "output"
    DESCRIPTION = "description"
    ANNOTATIONS = "annotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The digests of one tool. `output` is None for a tool without an output schema."""

    whole: str
    """Covers the name of the tool and all other digests."""
    input: str
    output: str | None
    description: str
    annotations: str

    def as_json(self) -> JsonObject:
        """The JSON form, as it is in lock files."""
        return {"whole": self.whole, **self._aspects()}

    def changed_from(self, other: Fingerprint) -> frozenset[Aspect]:
        """The aspects that differ."""
        return frozenset(each for each in Aspect if self._aspects()[each.value] != other._aspects()[each.value])

    def _aspects(self) -> dict[str, str | None]:
        return {
            "input": self.input,
            "output": self.output,
            "description": self.description,
            "annotations": self.annotations,
        }


def fingerprint(tool: ToolContract) -> Fingerprint:
    """Compute the fingerprint of a tool. Raises NotJson: a schema or an annotation is not JSON."""
    aspects: dict[str, str | None] = {
        "input": _digest(strip_text(tool.input_schema)),
        "output": None if tool.output_schema is None else _digest(strip_text(tool.output_schema)),
        "description": _digest(texts_of(tool)),
        "annotations": _digest(dict(tool.annotations)),
    }
    whole = _digest({"fingerprint": VERSION, "name": tool.name, **aspects})
    return Fingerprint(whole=whole, **aspects)  # type: ignore[arg-type]  # only `output` may be None


def parse_fingerprint(value: Mapping[str, Any]) -> Fingerprint:
    """Read the JSON form of a fingerprint. Raises TypeError: a member is missing, unknown or not a string."""
    known = {"whole", *(each.value for each in Aspect)}
    if set(value) != known or not all(isinstance(value[name], str) for name in known - {"output"}):
        raise TypeError(f"a fingerprint has exactly the members {', '.join(sorted(known))}")
    return Fingerprint(**{name: value[name] for name in known})


def texts_of(tool: ToolContract) -> JsonObject:
    """All texts of a tool by place. A missing text is left out; an empty one is included."""
    texts: JsonObject = {"description": tool.description}
    if tool.title is not None:
        texts["title"] = tool.title
    for side, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        found = dict(schema_texts(schema)) if schema is not None else {}
        if found:
            texts[side] = found
    return texts


def _digest(value: JsonValue) -> str:
    return digest_bytes(render_canonical(value))
