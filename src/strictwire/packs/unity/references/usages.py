"""Where an asset is used: file, line, object and property, in every form of reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from strictwire.fault.failure import Refused
from strictwire.packs.unity.project.kinds import Form
from strictwire.packs.unity.project.project import META
from strictwire.packs.unity.references.graph import Graph
from strictwire.packs.unity.references.locate import Located, locate
from strictwire.packs.unity.references.missing import SOURCES, is_into_prefab
from strictwire.packs.unity.scripts.names import TypeNames
from strictwire.packs.unity.sources import Sources, maybe_structure
from strictwire.packs.unity.yaml.index import LineNumbers

_KEY: Final = re.compile(rb"([A-Za-z_][\w.-]*)\"?\s*[:=]\s*[\"'{(]?[^\n]*\Z")

_MAX_KEY: Final = 200
"""Characters before a GUID in which its key is looked for. Lines may have two million."""


class Usage(Struct, frozen=True):
    """One place that refers to an asset."""

    path: str
    """The asset that refers, or its .meta file."""
    line: int
    """Counted from 1; 0 if the place is not known."""
    object: str
    """Hierarchy path in a scene or prefab; empty elsewhere."""
    component: str
    """Type of the component or document, such as `MeshRenderer`; empty in text formats."""
    property: str
    """Such as `m_Materials[0]`."""


def find_usages(graph: Graph, sources: Sources, path: str) -> Iterator[Usage]:
    """Every place that refers to an asset or folder, by file and line."""
    guid = graph.project.guid_of(path) or ""
    names = TypeNames(graph.project)
    by_guid = set(graph.users.get(guid, ()))
    for user in sorted({*by_guid, *graph.users_by_path.get(path, ())}):
        if user.removesuffix(META) == path:
            continue
        try:
            raw = graph.project.read(user)
        except Refused:
            continue
        found = list(_in_file(graph, sources, names, user, raw, guid)) if user in by_guid else []
        yield from found or [Usage(user, _line_of(raw, path), "", "", "")]


def _in_file(graph: Graph, sources: Sources, types: TypeNames, user: str, raw: bytes, guid: str) -> Iterator[Usage]:
    if graph.scans[user].scan.form is not Form.YAML:
        yield from _in_text(user, raw, guid)
        return
    structure = maybe_structure(raw) if user.endswith((".unity", ".prefab")) else None
    names = sources.names(structure) if structure else None
    every = list(locate(raw, lambda reference, _name: reference.guid == guid, hints=[guid.encode()]))
    lines = {found.line for found in every}
    # An instance names its prefab once as its source, and again in every override: the first says it all.
    has_source = any(found.property in SOURCES for found in every)
    for found in every:
        if has_source and is_into_prefab(found):
            continue
        yield Usage(user, found.line, names.path(found.owner) if names else "", _type(types, found), found.property)
    # Addressables and build settings write a GUID as plain text.
    yield from (each for each in _in_text(user, raw, guid) if each.line not in lines and each.property not in ("guid", ""))


def _type(types: TypeNames, found: Located) -> str:
    return types.script_name(found.script).name if found.script is not None else found.type_name


def _in_text(user: str, raw: bytes, guid: str) -> Iterator[Usage]:
    text, numbers = raw.lower(), LineNumbers(raw)
    at = text.find(guid.encode())
    while at >= 0:
        start = raw.rfind(b"\n", max(0, at - _MAX_KEY), at) + 1 or max(0, at - _MAX_KEY)
        key = _KEY.search(raw[start:at])
        yield Usage(user, numbers.at(at), "", "", key[1].decode() if key else "")
        at = text.find(guid.encode(), at + 1)


def _line_of(raw: bytes, path: str) -> int:
    """The line that names a path by the end of it, which is what relative paths have in common with it."""
    at = raw.find(path.rpartition("/")[2].encode())
    return raw.count(b"\n", 0, at) + 1 if at >= 0 else 0
