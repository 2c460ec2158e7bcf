"""Confirms candidates of a difference with a witness. A claim without a witness is not made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.check.breaking.explain import Claim, Difference, SchemaPair
from strictwire.check.inclusion import strings
from strictwire.check.inclusion.decide import Compared
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.sample import Sampler, collect_constants
from strictwire.check.inclusion.shape import UnsupportedSchema, canonical_text
from strictwire.check.pattern import UnsupportedPattern
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

MAX_LOCAL: Final = 200
"""Values of a subschema that are tried for one candidate."""

MAX_WHOLE: Final = 8
"""Whole instances that are built around one local value."""

MAX_EXCERPT: Final = 300
"""Longest excerpt of a schema in a finding, in characters; longer ones are truncated."""


class Confirmer:
    """Finds witnesses: values that a source accepts and a target rejects because of one constraint."""

    def __init__(self, source: Compared, target: Compared) -> None:
        self.source = source
        self.root = source.root
        self.sampler = Sampler(root=self.root, constants=collect_constants(source.schema, target.schema))
        self.source_accepts, self.target_accepts = source.acceptor(), target.acceptor()

    def confirm(self, kind: str, schemas: SchemaPair, difference: Difference) -> Claim | None:
        """The claim for a candidate, or None if no witness is found."""
        found = next(self._witnesses(schemas, difference), None)
        if found is None:
            return None
        keyword = difference.pointer.rpartition("/")[2]
        return Claim(
            kind=kind,
            pointer=difference.pointer,
            path=schemas.path,
            what=difference.what,
            name=difference.name,
            witness=found[0],
            source=excerpt_of(schemas.source, keyword, difference.name),
            target=excerpt_of(schemas.target, keyword, difference.name),
        )

    def wholes(self, path: tuple[str, ...], value: Any) -> Iterator[Any]:
        """Values of the whole source with a value at a path."""
        return islice(self.sampler.values_with(self.source.schema, path, value), MAX_WHOLE)

    def _witnesses(self, schemas: SchemaPair, difference: Difference) -> Iterator[tuple[Any]]:
        satisfies = compile_schema(difference.fragment).accepts
        for value in islice(self._local(schemas, difference), MAX_LOCAL):
            if not satisfies(value):
                for whole in self.wholes(schemas.path, value):
                    if self.source_accepts(whole) and not self.target_accepts(whole):
                        yield (whole,)

    def _local(self, schemas: SchemaPair, difference: Difference) -> Iterator[Any]:
        """Values of the source subschema, those that the constraint probably rejects first."""
        with suppress(UnsupportedSchema, UnsupportedPattern, SchemaRefused):
            constraint = expand(difference.fragment, self.root)
            for piece in expand(schemas.source, self.root):
                if piece.kind == "string" and piece.literals is None:
                    found = strings.find_outside(piece, [each for each in constraint if each.kind == "string"])
                    yield from () if found is None else (found,)
        focus = (difference.name,) if difference.fragment.keys() == {"not"} else ()
        yield from self.sampler.boundary_values(schemas.source, focus)


def excerpt_of(schema: JsonObject, keyword: str, name: str = "") -> str:
    """The JSON of one keyword of a schema, or of one property; empty if it is absent."""
    if keyword == "properties":
        schema, keyword = schema.get("properties", {}), name
    return shorten(canonical_text({keyword: schema[keyword]})) if keyword in schema else ""


def shorten(text: str) -> str:
    """The text, truncated to the length that a finding may have."""
    return text if len(text) <= MAX_EXCERPT else text[: MAX_EXCERPT - 1] + "…"
