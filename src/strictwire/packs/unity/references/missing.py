"""Places of one file whose reference leads nowhere: missing scripts, lost components, broken references. Pure.

The scan of a file says whether there can be any; only then is the file read again and each place confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from strictwire.packs.unity.project.verdict import Verdict
from strictwire.packs.unity.references.locate import Located, locate
from strictwire.packs.unity.references.resolve import Resolver
from strictwire.packs.unity.references.scan import Scan
from strictwire.packs.unity.yaml.index import LineNumbers
from strictwire.packs.unity.yaml.objects import GAME_OBJECT
from strictwire.packs.unity.yaml.values import Reference

Read: TypeAlias = Callable[[], bytes]
"""Gives the content of the file."""

SCRIPT: Final = "m_Script"
"""The property that names the script of a component."""

_ENTRY: Final = "m_Component["

SOURCES: Final = ("m_SourcePrefab", "m_ParentPrefab")
"""The property of an instance that names its prefab, since 2018.3 and before."""

_INTO_PREFAB: Final = re.compile(
    r"""m_Modification\.m_Modifications\[\d+\]\.target
    | m_Modification\.m_Removed\w+\[\d+\]
    | m_Modification\.m_Added\w+\[\d+\]\.targetCorrespondingSourceObject
    | m_CorrespondingSourceObject | m_PrefabParentObject""",
    re.VERBOSE,
)
"""Properties of an instance that name an object of its prefab."""

_META_REFERENCE: Final = re.compile(rb"([A-Za-z_]\w*): \{fileID: (-?\d{1,20}),\s+guid: ([0-9a-fA-F]{32})")


def missing_scripts(scan: Scan, resolver: Resolver, read: Read) -> Iterator[Located]:
    """Scripts that are certainly gone, and empty references to a script."""
    guids = {each.guid for each in scan.remotes if resolver.judge_guid(each.guid) is Verdict.MISSING_ASSET}
    if not guids and not scan.has_null_script:
        return iter(())

    def is_wanted(reference: Reference, name: str) -> bool:
        return name == SCRIPT and (reference.file_id == 0 or reference.guid in guids)

    hints = [b"m_Script: {fileID: 0}", *(guid.encode() for guid in sorted(guids))]
    return locate(read(), is_wanted, hints=hints)


def lost_components(scan: Scan, read: Read) -> Iterator[Located]:
    """Components that an object lists and the file does not have."""
    lost = set(scan.dangling) | ({0} if scan.has_null_component else set())
    return (each for each in _local(lost, read, is_entry=True) if is_component_entry(each))


def lost_objects(scan: Scan, read: Read) -> Iterator[Located]:
    """Other references inside the file that lead to nothing in it."""
    return (each for each in _local(set(scan.dangling), read, is_entry=False) if not is_component_entry(each))


def _local(ids: set[int], read: Read, *, is_entry: bool) -> Iterator[Located]:
    """References to lost ids. `is_entry` limits them to what may be the list of components of an object."""
    if not ids:
        return iter(())

    def is_wanted(reference: Reference, name: str) -> bool:
        return not reference.guid and reference.file_id in ids and (not is_entry or name.startswith(_ENTRY))

    return locate(read(), is_wanted, hints=[f"fileID: {each}".encode() for each in sorted(ids)])


def is_component_entry(found: Located) -> bool:
    """Whether a place is the list of components of an object."""
    return found.class_id == GAME_OBJECT and found.property.startswith(_ENTRY)


def is_into_prefab(found: Located) -> bool:
    """Whether a place belongs to an instance and names an object of its prefab: a stale one has no effect."""
    return _INTO_PREFAB.fullmatch(found.property) is not None


def find_broken(scan: Scan, resolver: Resolver) -> dict[Reference, Verdict]:
    """References to other assets that certainly lead nowhere."""
    found: dict[Reference, Verdict] = {}
    for remote in scan.remotes:
        verdict = resolver.judge(remote)
        if verdict in (Verdict.MISSING_ASSET, Verdict.MISSING_OBJECT):
            found[Reference(remote.file_id, remote.guid)] = verdict
    return found


def locate_broken(broken: Mapping[Reference, Verdict], read: Read, *, is_meta: bool) -> Iterator[Located]:
    """Where references of `find_broken` stand in the file."""
    if not broken:
        return iter(())
    if is_meta:
        return _in_meta(read(), broken)
    hints = sorted({each.guid.encode() for each in broken})
    return locate(read(), lambda reference, _name: reference in broken, hints=hints)


def _in_meta(raw: bytes, broken: Mapping[Reference, Verdict]) -> Iterator[Located]:
    """A .meta file has no documents."""
    numbers = LineNumbers(raw)
    for found in _META_REFERENCE.finditer(raw):
        reference = Reference(int(found[2]), found[3].decode().lower())
        if reference in broken:
            yield Located(numbers.at(found.start()), 0, 0, "", None, found[1].decode(), reference)
