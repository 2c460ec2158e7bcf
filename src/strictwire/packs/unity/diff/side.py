"""One version of a file. Documents are read when they are asked for: most of a large scene is the same in both versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from strictwire.packs.unity.naming import Address, Names
from strictwire.packs.unity.project.kinds import Form, form_of
from strictwire.packs.unity.project.meta import is_builtin_guid
from strictwire.packs.unity.sources import Sources
from strictwire.packs.unity.yaml.document import Document, DocumentReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.index import Header, find_problems, has_conflict_mark, has_documents, index_documents
from strictwire.packs.unity.yaml.objects import GAME_OBJECT, PREFAB_INSTANCE, Structure
from strictwire.packs.unity.yaml.structure import read_structure
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_reference

MAX_VALUE: Final = 200
"""Characters of a value that are shown."""

NONE: Final = "none"
"""What an empty reference is shown as."""

_FORMS: Final[Mapping[Form, str]] = {
    Form.LFS_POINTER: "is a Git LFS pointer; its content is not here",
    Form.BINARY: "is saved in binary form",
    Form.EMPTY: "is empty",
    Form.TEXT: "is not in a format of Unity",
}

Value = TypeVar("Value")


_FATAL: Final = frozenset({Fault.CONFLICT_MARKER, Fault.BAD_HEADER, Fault.ID_OUT_OF_RANGE})
"""Damage after which nothing can be said about the objects of a file."""


def find_obstacle(raw: bytes) -> str:
    """Why a file of this form cannot be compared; empty if it can."""
    form = form_of(raw)
    if form is Form.YAML and not has_documents(raw):
        return "ends before its first object"
    return _FORMS.get(form, "")


def _find_damage(raw: bytes, headers: tuple[Header, ...], different: int) -> tuple[Problem, ...]:
    """Damage of the file as a whole. Looked for only where something does not add up."""
    starts = raw.count(b"\n--- ") + raw.startswith(b"--- ")
    is_odd = len(headers) != starts or different != len(headers) or not raw.endswith(b"\n") or has_conflict_mark(raw)
    return find_problems(raw, headers) if is_odd else ()


class _Lazy(Mapping[int, Value], Generic[Value]):
    """A table of the structure whose entries are worked out when they are asked for."""

    def __init__(self, ids: Mapping[int, Header], table: Callable[[int], Mapping[int, Value]]) -> None:
        self._ids = ids
        self._table = table

    def __getitem__(self, file_id: int) -> Value:
        if file_id not in self._ids:
            raise KeyError(file_id)
        return self._table(file_id)[file_id]

    def __contains__(self, file_id: object) -> bool:
        return isinstance(file_id, int) and file_id in self._ids and file_id in self._table(file_id)

    def __iter__(self) -> Iterator[int]:
        return (each for each in self._ids if each in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Side:
    """See the module."""

    def __init__(self, raw: bytes, sources: Sources, path_of: Callable[[str], str | None]) -> None:
        self.raw = raw
        headers = index_documents(raw)
        self.headers: dict[int, Header] = {}
        for header in headers:
            # Of two documents with one id Unity loads the first.
            self.headers.setdefault(header.file_id, header)
        self.damage = _find_damage(raw, headers, len(self.headers))
        self.sources = sources
        self._path_of = path_of
        self._reader = DocumentReader(raw)
        self._documents: dict[int, Document | None] = {}
        self._structures: dict[int, Structure] = {}
        self.unread: list[int] = []
        """Ids of documents that are malformed."""
        self.names: Final[Names] = sources.names(self._lazy_structure())

    @property
    def is_unreadable(self) -> bool:
        """Whether the file is too damaged to be compared."""
        return any(each.fault in _FATAL for each in self.damage)

    def text(self, file_id: int) -> bytes:
        """The bytes of a document."""
        header = self.headers[file_id]
        return self.raw[header.start : header.end]

    def document(self, file_id: int) -> Document | None:
        """A document, read; None if it is malformed or not there."""
        if file_id not in self._documents:
            header = self.headers.get(file_id)
            self._documents[file_id] = self._read(header) if header is not None else None
        return self._documents[file_id]

    def fields(self, file_id: int) -> dict[str, Node]:
        """The fields of a document; empty if it is malformed or not there."""
        document = self.document(file_id)
        return document.fields if document else {}

    def type_of(self, file_id: int) -> str:
        """The type of a component or document: the class of its script, or else its own."""
        document = self.document(file_id)
        if document is None:
            return ""
        script = maybe_reference(document.fields.get("m_Script"))
        path = self._path_of(script.guid) if script is not None and script.guid else None
        return path.rpartition("/")[2].rpartition(".")[0] if path else document.type_name

    def owner_id(self, file_id: int) -> int:
        """The GameObject or PrefabInstance that a document belongs to; itself if it belongs to none."""
        owner = self.names.owner(self.names.decode(file_id))
        return owner[0] if owner else file_id

    def type_at(self, address: Address) -> str:
        """The type of the component at an address, prefabs included; `GameObject` for an object."""
        component = self.names.component_at(address)
        if component is None:
            return "GameObject" if self.names.owner(address) == address else ""
        path = self._path_of(component.script.guid) if component.script is not None and component.script.guid else None
        return path.rpartition("/")[2].rpartition(".")[0] if path else component.type_name

    def describe(self, value: Node | None) -> str | None:
        """A value in words; None if there is none."""
        return None if value is None else self._describe(value, 4)

    def _describe(self, value: Node, depth: int) -> str:
        if isinstance(value, str):
            return str(value)  # without the mark of a quoted scalar
        if isinstance(value, dict) and "fileID" in value:
            reference = maybe_reference(value)
            return self.describe_reference(reference) if reference is not None else str(value["fileID"])
        if depth == 0:
            return "…"
        # No more than fits is described: a list may have a million entries.
        if isinstance(value, list):
            return f"[{', '.join(self._describe(each, depth - 1) for each in value[:MAX_VALUE])}]"
        members = list(value.items())[:MAX_VALUE]
        return f"{{{', '.join(f'{name}: {self._describe(each, depth - 1)}' for name, each in members)}}}"

    def describe_reference(self, reference: Reference) -> str:
        """What a reference leads to: an object of the file, or an asset."""
        if reference.file_id == 0:
            return NONE
        if not reference.guid:
            where, kind = self.names.path(reference.file_id), self.type_of(reference.file_id)
            return f"{where} ({kind})" if where and kind else where or f"fileID {reference.file_id}"
        if is_builtin_guid(reference.guid):
            return f"built-in resource {reference.file_id}"
        return self._path_of(reference.guid) or f"GUID {reference.guid}"

    def asset_of(self, value: Node | None) -> str:
        """The path of the asset that a reference names; its GUID if the asset is not there, empty if it is no reference."""
        reference = maybe_reference(value)
        return (self._path_of(reference.guid) or reference.guid) if reference is not None and reference.guid else ""

    def _read(self, header: Header) -> Document | None:
        try:
            return self._reader.read(header)
        except Malformed:
            self.unread.append(header.file_id)
            return None

    def _lazy_structure(self) -> Structure:
        headers = self.headers.values()
        stripped = {each.file_id: each for each in headers if each.stripped}
        whole = {each.file_id: each for each in headers if not each.stripped}
        instances = {file_id: each for file_id, each in whole.items() if each.class_id == PREFAB_INSTANCE}
        objects = {file_id: each for file_id, each in whole.items() if each.class_id == GAME_OBJECT}
        return Structure(
            objects=_Lazy(objects, lambda each: self._structure(each).objects),
            transforms=_Lazy(whole, lambda each: self._structure(each).transforms),
            components=_Lazy(whole, lambda each: self._structure(each).components),
            instances=_Lazy(instances, lambda each: self._structure(each).instances),
            stripped=_Lazy(stripped, lambda each: self._structure(each).stripped),
            roots=None,
            problems=(),
        )

    def _structure(self, file_id: int) -> Structure:
        """The structure of one document, read as a file of its own."""
        if file_id not in self._structures:
            try:
                self._structures[file_id] = read_structure(self.text(file_id))
            except Malformed:
                self._structures[file_id] = _NOTHING
        return self._structures[file_id]


def shorten_pair(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Both texts with at most MAX_VALUE characters, cut so that the first difference is still to be seen."""
    if len(before or "") <= MAX_VALUE and len(after or "") <= MAX_VALUE:
        return before, after
    start = max(0, _common_start(before or "", after or "") - MAX_VALUE // 4)
    return _window(before, start), _window(after, start)


def _common_start(first: str, second: str) -> int:
    """How many characters two texts begin with in common; by halves, because lines may have two million characters."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _window(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    shown = text[start : start + MAX_VALUE]
    return ("…" if start else "") + shown + ("…" if start + MAX_VALUE < len(text) else "")


_NOTHING: Final = Structure(objects={}, transforms={}, components={}, instances={}, stripped={}, roots=None, problems=())
