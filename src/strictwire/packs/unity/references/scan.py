"""What one file refers to, from its bytes alone. Pure.

Unity YAML writes references as flow mappings (`{fileID: N, guid: G, type: T}`) that wrap near column 80, so they are taken
by brackets and not by lines. The fast path finds every reference, and now and then a text that only looks like one; what is
reported to people is confirmed by `locate`, which reads the document.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.project.kinds import Form, extension_of, form_of
from strictwire.packs.unity.references.markup import find_markup_paths
from strictwire.packs.unity.yaml.document import DocumentReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.index import find_problems, has_conflict, has_conflict_mark, index_documents
from strictwire.packs.unity.yaml.values import Node, maybe_file_id, maybe_reference

# Every pattern begins with a literal, which the regex engine finds at the speed of memchr. An alternative or a character
# class at the start would cost five times as much.
_HEADER: Final = re.compile(rb"\n--- (?:!u!\d{1,10} &(-?\d{1,20}))?")
"""Every document; the id is empty if its header is malformed."""

_REFERENCE: Final = re.compile(rb"fileID: ([1-9-][^}]*)")
"""Every reference but `{fileID: 0}`, up to its closing brace. In another spelling than Unity's the rest is no reference."""

_REMOTE: Final = re.compile(rb"(-?\d{1,20}),\s+guid: ([0-9a-fA-F]{32}),\s+type: (\d)\s*")
_NO_SCRIPT: Final = b"m_Script: {fileID: 0}"
_COMPONENT: Final = b"- component: "
_NO_COMPONENT: Final = b"- component: {fileID: 0}"
_NO_OLD_COMPONENT: Final = re.compile(rb"\n  m_Component:\r?\n(?:  - \d+: \{fileID: -?\d+\}\r?\n)*  - \d+: \{fileID: 0\}")
"""Before Unity 5.5 the key of a component was its class."""
_ADDRESS: Final = re.compile(rb"GUID: (?:(?<=m_AssetGUID: )|(?<=- m_GUID: ))([0-9a-f]{32})\b")
_BUILD_SCENE: Final = re.compile(rb"\n    path: ([^\r\n]*)\r?\n    guid: ([0-9a-f]{32})\b")
_INSTANCE: Final = re.compile(rb"\n--- !u!1001 &(-?\d{1,20})\b")
_SOURCE: Final = re.compile(rb"m_(?:SourcePrefab|ParentPrefab): \{fileID: -?\d{1,20},\s+guid: ([0-9a-fA-F]{32}),")
_LONG_ID: Final = 19
"""Digits from which on a number may exceed 64 bits."""
_ASSEMBLY: Final = re.compile(rb'"GUID:([0-9a-fA-F]{32})"')
_QUERY: Final = re.compile(rb"guid=([0-9a-fA-F]{32})")
_NESTED_JSON: Final = re.compile(rb'guid\\*"\s*:\s*\\*"([0-9a-fA-F]{32})')

BUILD_SETTINGS: Final = "ProjectSettings/EditorBuildSettings.asset"


class Remote(Struct, frozen=True, array_like=True, order=True):
    """A reference to another asset."""

    guid: str
    file_id: int
    type: int
    """0 built in, 2 written by Unity itself, 3 imported."""


class Scan(Struct, frozen=True, array_like=True):
    """See the module. Everything is sorted, so that equal files give equal scans."""

    form: Form
    remotes: tuple[Remote, ...] = ()
    assets: tuple[str, ...] = ()
    """GUIDs that refer to a whole asset: Addressables, assemblies, UI documents, shader graphs, build settings."""
    paths: tuple[str, ...] = ()
    """Assets named by path."""
    dangling: tuple[int, ...] = ()
    """Local references to ids that no document of the file has."""
    has_null_script: bool = False
    has_null_component: bool = False
    ids: bytes = b""
    """File ids of the documents, as native 64-bit integers. Empty for scenes, whose objects no other file can name."""
    instances: tuple[tuple[int, str], ...] = ()
    """Instances in a prefab: their id and the GUID of their source."""
    problems: tuple[Problem, ...] = ()

    def file_ids(self) -> array[int]:
        """The ids of the documents."""
        found = array("q")
        found.frombytes(self.ids)
        return found

    def guids(self) -> Iterator[str]:
        """Every GUID it refers to; some more than once."""
        for remote in self.remotes:
            yield remote.guid
        yield from self.assets


def scan_file(path: str, raw: bytes) -> Scan:
    """Scan one file of a project by its form."""
    form = form_of(raw)
    if form is Form.YAML:
        return _scan_yaml(path, raw)
    if path.endswith(".meta"):
        return _scan_meta(raw)
    if form is Form.TEXT:
        return _scan_text(path, raw)
    return Scan(form)


def _scan_yaml(path: str, raw: bytes) -> Scan:
    ids = _HEADER.findall(raw)
    named = set(ids)
    # Nearly every reference is local and resolved: what the ids leave over is small.
    remotes, others = _split(set(_REFERENCE.findall(raw)) - named)
    if others:
        remotes, others = _read_exactly(raw, named)
    is_build = path == BUILD_SETTINGS
    scenes = _BUILD_SCENE.findall(raw) if is_build else []
    return Scan(
        Form.YAML,
        remotes=tuple(sorted(remotes)),
        assets=_sorted_guids(guid for _, guid in scenes) if is_build else _sorted_guids(_ADDRESS.findall(raw)),
        paths=tuple(sorted({each.decode("utf-8", "replace") for each, _ in scenes})),
        dangling=tuple(sorted(number for each in others if (number := maybe_file_id(each)) is not None)),
        has_null_script=_NO_SCRIPT in raw,
        has_null_component=_has_null_component(raw),
        ids=b"" if path.endswith(".unity") else _pack(named),
        instances=_instances(raw) if path.endswith(".prefab") else (),
        problems=find_problems(raw, index_documents(raw)) if _is_odd(raw, ids, named) else (),
    )


def _has_null_component(raw: bytes) -> bool:
    if _COMPONENT in raw:
        return _NO_COMPONENT in raw
    return _NO_OLD_COMPONENT.search(raw) is not None


def _is_odd(raw: bytes, ids: list[bytes], named: set[bytes]) -> bool:
    """Whether the file needs a closer look: anything but valid headers with different ids, and a last line."""
    if len(named) != len(ids) or not ids or b"" in named or not raw.endswith(b"\n"):
        return True
    long = [each for each in named if len(each) >= _LONG_ID]
    return any(maybe_file_id(each) is None for each in long) or has_conflict_mark(raw)


def _split(texts: set[bytes]) -> tuple[set[Remote], set[bytes]]:
    """References to other assets, and local ones that lead nowhere."""
    remotes: set[Remote] = set()
    others: set[bytes] = set()
    for text in texts:
        found = _REMOTE.fullmatch(text)
        if found is None:
            others.add(text)
        elif found[1] != b"0":
            remotes.add(Remote(found[2].decode().lower(), int(found[1]), int(found[3])))
    return remotes, others


def _read_exactly(raw: bytes, named: set[bytes]) -> tuple[set[Remote], set[bytes]]:
    """The same from the full reader, which knows text from references. Damaged documents are passed over."""
    remotes: set[Remote] = set()
    others: set[bytes] = set()
    reader = DocumentReader(raw)
    for header in index_documents(raw):
        try:
            document = reader.read(header)
        except Malformed:
            continue
        for value in iter_references(document.fields):
            reference = maybe_reference(value)
            if reference is None or reference.file_id == 0:
                continue
            if reference.guid:
                kind = str(value.get("type", ""))
                remotes.add(Remote(reference.guid.lower(), reference.file_id, int(kind) if kind.isdigit() else -1))
            elif (text := str(reference.file_id).encode()) not in named:
                others.add(text)
    return remotes, others


def iter_references(value: Node) -> Iterator[dict[str, Node]]:
    """Every mapping of a value that is a reference."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "fileID" in part:
                yield part
            else:
                waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _instances(raw: bytes) -> tuple[tuple[int, str], ...]:
    found = []
    for match in _INSTANCE.finditer(raw):
        end = raw.find(b"\n--- ", match.end())
        source = _SOURCE.search(raw, match.end(), end if end >= 0 else len(raw))
        if source is not None and (file_id := maybe_file_id(match[1])) is not None:
            found.append((file_id, source[1].decode().lower()))
    return tuple(sorted(found))


def _pack(named: set[bytes]) -> bytes:
    return array("q", sorted(number for each in named if (number := maybe_file_id(each)) is not None)).tobytes()


def _scan_meta(raw: bytes) -> Scan:
    """A .meta file: importer settings may refer to materials, icons and default values of scripts."""
    remotes, _ = _split(set(_REFERENCE.findall(raw)))
    return Scan(Form.TEXT, remotes=tuple(sorted(remotes)), problems=_text_problems(raw))


def _scan_text(path: str, raw: bytes) -> Scan:
    extension = extension_of(path)
    find = _GUID_FINDERS.get(extension)
    return Scan(
        Form.TEXT,
        assets=_sorted_guids(find(raw)) if find else (),
        paths=find_markup_paths(path, raw) if extension in _MARKUP else (),
        problems=_text_problems(raw),
    )


def _text_problems(raw: bytes) -> tuple[Problem, ...]:
    """Conflict markers."""
    if not has_conflict(raw):
        return ()
    return tuple(each for each in find_problems(raw, ()) if each.fault is Fault.CONFLICT_MARKER)


def _sorted_guids(found: Iterator[bytes] | list[bytes]) -> tuple[str, ...]:
    return tuple(sorted({each.decode().lower() for each in found}))


_GUID_FINDERS: Final[Mapping[str, Callable[[bytes], list[bytes]]]] = MappingProxyType(
    {
        ".asmdef": _ASSEMBLY.findall,
        ".asmref": _ASSEMBLY.findall,
        ".uxml": _QUERY.findall,
        ".uss": _QUERY.findall,
        ".tss": _QUERY.findall,
        ".shadergraph": _NESTED_JSON.findall,
        ".shadersubgraph": _NESTED_JSON.findall,
    }
)
"""How GUIDs are written in text formats, by extension."""

_MARKUP: Final = frozenset({".uxml", ".uss", ".tss"})
