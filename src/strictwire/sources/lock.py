"""`strictwire.lock`: the contracts that were reviewed, with their fingerprints.

It holds the whole listing entry of each tool beside its fingerprint, so that a difference can be shown and judged, not only
noticed. Deterministic: the same tools give the same bytes. Read by the author runtime, by the guard and by every verb.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render_sorted
from strictwire.check.subject import Origin, Subject, ToolSet
from strictwire.contract.document import read_contract, render_contract
from strictwire.contract.fingerprint import VERSION, Fingerprint, fingerprint, parse_fingerprint
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import ToolContract
from strictwire.sources.dump import LIMITS
from strictwire.sources.entries import entry_of, subject_of
from strictwire.sources.refused import SourceRefused

LOCK_NAME: Final = "strictwire.lock"
LOCK_VERSION: Final = 1

_SHOWN: Final = frozenset({"title", "description", "annotations"})
"""Members of a contract document that the listing entry has already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What a lock file says."""

    pins: Mapping[str, Fingerprint]
    contracts: Mapping[str, ToolContract]


def render_lock(subjects: Iterable[Subject]) -> bytes:
    """The text of a lock file. Raises NotJson: a contract that is not JSON."""
    tools = {each.contract.name: _pinned(each) for each in subjects}
    value = {"lock": LOCK_VERSION, "fingerprint": VERSION, "tools": tools}
    return msgspec.json.format(render_sorted(value), indent=2) + b"\n"


def _pinned(subject: Subject) -> JsonObject:
    contract = subject.contract
    pinned: JsonObject = {"fingerprint": fingerprint(contract).as_json(), "tool": entry_of(contract)}
    if subject.has_terms:
        pinned["terms"] = {name: each for name, each in render_contract(contract).items() if name not in _SHOWN}
    return pinned


def write_lock(path: Path, subjects: Iterable[Subject]) -> None:
    """Write a lock file whole or not at all. Raises SourceRefused."""
    write_whole(path, render_lock(subjects))


def write_whole(path: Path, raw: bytes) -> None:
    """Write a file whole or not at all. Raises SourceRefused."""
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as exc:
        with suppress(OSError):
            Path(temporary).unlink()
        raise SourceRefused(str(path), f"cannot be written ({exc.strerror})") from exc


def read_lock(path: Path) -> ToolSet:
    """The tools of a lock file. Raises SourceRefused: not there, not a lock, or changed by hand."""
    try:
        if path.stat().st_size > LIMITS.size:
            raise SourceRefused(str(path), f"larger than {LIMITS.size:,} bytes")
        return parse_lock(path.read_bytes(), str(path))
    except OSError as exc:
        raise SourceRefused(str(path), f"cannot be read ({exc.strerror})") from exc


def parse_lock(raw: bytes, label: str) -> ToolSet:
    """The tools of a lock text. Raises SourceRefused."""
    try:
        value = parse_object(raw, LIMITS)
    except NotStrict as exc:
        raise SourceRefused(label, str(exc)) from exc
    if value.get("lock") != LOCK_VERSION or value.get("fingerprint") != VERSION or not isinstance(value.get("tools"), dict):
        raise SourceRefused(label, f"not a lock file of version {LOCK_VERSION}; write it again with `strictwire pin`")
    base = Origin(label, "/tools")
    subjects = tuple(_subject(name, pinned, base.under(name, "tool")) for name, pinned in value["tools"].items())
    return ToolSet(label=label, subjects=subjects, texts={label: raw})


def _subject(name: str, pinned: Any, origin: Origin) -> Subject:
    """A tool of a lock. Raises SourceRefused: an edited entry has another fingerprint than the one beside it."""
    try:
        entry, terms = pinned["tool"], pinned.get("terms")
        document = {**{key: entry[key] for key in _SHOWN if key in entry}, **(terms or {})}
        contract = read_contract(
            entry["name"], input_schema=entry["inputSchema"], output_schema=entry.get("outputSchema"), document=document
        )
        pin = parse_fingerprint(pinned["fingerprint"])
    except (KeyError, TypeError, AttributeError, ContractRefused) as exc:
        raise SourceRefused(origin.file, f"the entry of {name!r} is not that of a lock file") from exc
    if fingerprint(contract) != pin or contract.name != name:
        raise SourceRefused(origin.file, f"the entry of {name!r} was changed by hand: its fingerprint is another")
    return subject_of(entry, origin, contract if terms is not None else None)


def pins_of(tools: ToolSet) -> Lock:
    """What the runtime and the guard enforce."""
    contracts = {each.contract.name: each.contract for each in tools.subjects}
    pins = {name: fingerprint(contract) for name, contract in contracts.items()}
    return Lock(pins=MappingProxyType(pins), contracts=MappingProxyType(contracts))
