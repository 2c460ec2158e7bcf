"""`strictwire.lock`: the reviewed contracts and their fingerprints.

The lock file contains the whole `tools/list` entry of each tool beside its fingerprint, so that `breaking` can compare
the old contract with the new one. Deterministic: equal tools give equal bytes. The server, the guard and the CLI read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render_sorted
from strictwire.check.subject import SourceLocation, Subject, ToolSet
from strictwire.contract.document import read_contract, render_contract
from strictwire.contract.fingerprint import VERSION, Fingerprint, fingerprint, parse_fingerprint
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import ToolContract
from strictwire.sources.dump import LIMITS
from strictwire.sources.entries import entry_of, subject_of
from strictwire.sources.refused import SourceRefused
from strictwire.sources.whole_file import read_whole, write_whole

LOCK_NAME: Final = "strictwire.lock"
LOCK_VERSION: Final = 1

_SHOWN: Final = frozenset({"title", "description", "annotations"})
"""Members of a contract document that the `tools/list` entry already has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The pins of a lock file and the contracts they pin, by tool name."""

    pins: Mapping[str, Fingerprint]
    contracts: Mapping[str, ToolContract]


def render_lock(subjects: Iterable[Subject]) -> bytes:
    """The content of a lock file. Raises NotJson if a contract has a value that is not JSON."""
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
    """Write a lock file atomically. Raises SourceRefused."""
    write_whole(path, render_lock(subjects))


def read_lock(path: Path) -> ToolSet:
    """The tools of a lock file. Raises SourceRefused if it is unreadable, not a lock file, or edited by hand."""
    return parse_lock(read_whole(path, LIMITS.size), str(path))


def parse_lock(raw: bytes, label: str) -> ToolSet:
    """The tools of the content of a lock file. Raises SourceRefused."""
    try:
        value = parse_object(raw, LIMITS)
    except NotStrict as exc:
        raise SourceRefused(label, str(exc)) from exc
    if value.get("lock") != LOCK_VERSION or value.get("fingerprint") != VERSION or not isinstance(value.get("tools"), dict):
        raise SourceRefused(label, f"not a lock file of version {LOCK_VERSION}; run `strictwire pin` to write a new one")
    base = SourceLocation(label, "/tools")
    subjects = tuple(_subject(name, pinned, base.under(name, "tool")) for name, pinned in value["tools"].items())
    return ToolSet(label=label, subjects=subjects, texts={label: raw})


def _subject(name: str, pinned: Any, origin: SourceLocation) -> Subject:
    """One tool of a lock file. Raises SourceRefused if its contract does not match the fingerprint beside it."""
    try:
        entry, terms = pinned["tool"], pinned.get("terms")
        document = {**{key: entry[key] for key in _SHOWN if key in entry}, **(terms or {})}
        contract = read_contract(
            entry["name"], input_schema=entry["inputSchema"], output_schema=entry.get("outputSchema"), document=document
        )
        pin = parse_fingerprint(pinned["fingerprint"])
    except (KeyError, TypeError, AttributeError, ContractRefused) as exc:
        raise SourceRefused(origin.file, f"the entry of {name!r} is malformed; run `strictwire pin`") from exc
    if fingerprint(contract) != pin or contract.name != name:
        reason = f"the entry of {name!r} was edited by hand: its fingerprint does not match; run `strictwire pin`"
        raise SourceRefused(origin.file, reason)
    return subject_of(entry, origin, contract if terms is not None else None)


def read_pins(tools: ToolSet) -> Pins:
    """The pins that the server and the guard enforce."""
    contracts = {each.contract.name: each.contract for each in tools.subjects}
    pins = {name: fingerprint(contract) for name, contract in contracts.items()}
    return Pins(pins=MappingProxyType(pins), contracts=MappingProxyType(contracts))
