"""Reads .meta files: the GUID of an asset, and whether it is a folder. Pure."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

MAX_META: Final = 8 * 1024 * 1024
"""Bytes of a .meta file that are read. Importers of sprite sheets and models write a few hundred kB."""

_GUID: Final = re.compile(rb"^guid:[ \t]*([0-9A-Fa-f]{32})[ \t]*\r?$", re.MULTILINE)
_ANY_GUID: Final = re.compile(rb"^guid:", re.MULTILINE)
_FOLDER: Final = re.compile(rb"^folderAsset:[ \t]*yes", re.MULTILINE)
_IMPORTER: Final = re.compile(rb"^([A-Za-z0-9]+Importer):", re.MULTILINE)

_BUNDLE: Final = re.compile(rb"^  assetBundleName:[ \t]+\S", re.MULTILINE)

_BUILTIN: Final = re.compile(r"0{16}[0-9a-f]0{15}")
"""Resources inside the editor: `...d000...`, `...e000...`, `...f000...`, and all zeros for none."""

_MIN_DISTINCT: Final = 6
"""Different digits of a generated GUID. Fewer have a probability of 3e-13."""

_MAX_SAME: Final = 12
"""Equal digits in a row that a generated GUID does not reach; 12 have a probability of 1e-12."""

_COUNTING_SHARE: Final = 0.75
"""Share of digits that follow from an earlier one. In a generated GUID it is about 0.08."""

_STEPS: Final = (1, 2, 4)
"""`01234567…`, `a1b2c3d4…`, `11112222…`."""

_FOLLOWS: Final = frozenset(
    (before, after)
    for ring in ("0123456789abcdef", "0123456789", "abcdef")
    for before, after in zip(ring, ring[1:] + ring[0], strict=True)
)
"""Pairs of digits that a person counting up writes one after the other."""


class Meta(Struct, frozen=True):
    """What a .meta file says."""

    guid: str
    """In lower case; empty if the file has none that is valid."""
    is_folder: bool
    importer: str
    """Such as `TextureImporter`; empty if none is named."""
    has_bundle: bool
    """Whether the asset is part of an asset bundle, from which code loads it by name."""


def read_meta(raw: bytes) -> Meta:
    """Parse a .meta file. One without a valid GUID gives an empty GUID."""
    guid = _GUID.search(raw)
    importer = _IMPORTER.search(raw)
    return Meta(
        guid=guid[1].decode().lower() if guid else "",
        is_folder=_FOLDER.search(raw) is not None,
        importer=importer[1].decode() if importer else "",
        has_bundle=_BUNDLE.search(raw) is not None,
    )


def has_several_guids(raw: bytes) -> bool:
    """Whether a .meta file names more than one GUID, as after a merge that kept both sides."""
    return len(_ANY_GUID.findall(raw)) > 1


def is_builtin_guid(guid: str) -> bool:
    """Whether a GUID stands for something inside the editor, which has no .meta file anywhere."""
    return _BUILTIN.fullmatch(guid) is not None


def is_placeholder_guid(guid: str) -> bool:
    """Whether a GUID was typed rather than generated: repeated groups, counting digits, or hardly any digit.

    Such GUIDs collide between projects, because everyone who invents one arrives at the same few. Unity's own GUIDs are
    random.
    """
    if is_builtin_guid(guid):
        return False
    return len(set(guid)) < _MIN_DISTINCT or _repeats(guid) or _counts(guid)


def _repeats(guid: str) -> bool:
    """A group of 2 to 16 digits that makes up the whole, or one digit over and over."""
    has_group = any(guid == guid[:size] * (len(guid) // size) for size in (2, 4, 8, 16))
    return has_group or any(digit * _MAX_SAME in guid for digit in set(guid))


def _counts(guid: str) -> bool:
    """Digits that count up or down."""
    return any(_counting_share(text, step) >= _COUNTING_SHARE for text in (guid, guid[::-1]) for step in _STEPS)


def _counting_share(text: str, step: int) -> float:
    pairs = list(zip(text, text[step:], strict=False))
    return sum(pair in _FOLLOWS for pair in pairs) / len(pairs)
