"""Finds declared properties that a new version of a schema no longer declares, and the names they got instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.breaking.confirm import Confirmer
from strictwire.check.breaking.explain import Claim, SchemaPair, members
from strictwire.check.breaking.renames import find_renamed_properties
from strictwire.check.breaking.walk import VersionPair
from strictwire.check.inclusion.decide import Compared
from strictwire.check.inclusion.shape import Reading, UnsupportedSchema
from strictwire.contract.schema import SchemaRefused


class Removal(NamedTuple):
    """A declared property that is gone. `renamed_to` is empty if nothing new looks like it."""

    claim: Claim
    renamed_to: str


def with_renames(claims: Sequence[Claim], pairs: Sequence[VersionPair]) -> tuple[Removal, ...]:
    """The claims about removed properties, each with the new name of the property."""
    removed = [claim for claim in claims if claim.kind == members.__name__]
    paths = {claim.path for claim in removed}
    renamed = {
        pair.path: find_renamed_properties(pair.old.get("properties", {}), pair.new.get("properties", {}))
        for pair in pairs
        if pair.path in paths
    }
    return tuple(Removal(claim, renamed.get(claim.path, {}).get(claim.name, "")) for claim in removed)


def removed_from_results(old: JsonObject, new: JsonObject, pairs: Sequence[VersionPair]) -> Iterator[Claim]:
    """The properties that results no longer have.

    A result without an optional property is a valid old result, so inclusion does not show the removal. What shows it is
    an old result that has the property.
    """
    directed = [SchemaPair(*pair, closed=True) for pair in pairs]
    candidates = [(schemas, each) for schemas in directed for each in members(schemas)]
    if not candidates:
        return
    try:
        versions = [Compared(schema=each, reading=Reading.DECLARED) for each in (old, new)]
        confirmer = Confirmer(*versions)
    except (SchemaRefused, UnsupportedSchema):
        return
    for schemas, difference in candidates:
        claim = confirmer.confirm(members.__name__, schemas, difference)
        if claim is not None:
            yield claim
