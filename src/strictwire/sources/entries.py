"""Converts entries of a `tools/list` response into tools, and back. No I/O: dumps, lock files and servers use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.check.subject import ReadProblem, SourceLocation, Subject, ToolSet
from strictwire.contract.tool import ToolContract
from strictwire.sources.refused import SourceRefused

MALFORMED: Final = "ENTRY_WELL_FORMED"
"""The lint rule under which a malformed entry is reported."""

_TYPES: Final[tuple[tuple[str, type, bool], ...]] = (
    ("name", str, True),
    ("inputSchema", dict, True),
    ("outputSchema", dict, False),
    ("description", str, False),
    ("title", str, False),
    ("annotations", dict, False),
)
"""The members of an entry: name, type, and whether it is required."""

_WORDS: Final[Mapping[type, str]] = {str: "a string", dict: "an object"}


def read_entries(entries: Iterable[JsonValue], base: SourceLocation) -> tuple[tuple[Subject, ...], tuple[ReadProblem, ...]]:
    """The tools of a list, and the problems of the entries that are malformed."""
    subjects: list[Subject] = []
    read_problems: list[ReadProblem] = []
    for index, entry in enumerate(entries):
        origin = base.under(index)
        problems = list(_find_problems(entry, origin))
        read_problems += problems
        if not problems and isinstance(entry, dict):
            subjects.append(subject_of(entry, origin))
    return tuple(subjects), tuple(read_problems)


def _find_problems(entry: JsonValue, origin: SourceLocation) -> Iterator[ReadProblem]:
    if not isinstance(entry, dict):
        yield ReadProblem(MALFORMED, origin, "the entry is not an object")
        return
    for name, kind, is_required in _TYPES:
        value = entry.get(name)
        if name not in entry and not is_required:
            continue
        # Some servers send null for an absent optional member.
        if not isinstance(value, kind) and not (value is None and not is_required):
            state = "is missing" if name not in entry else f"is not {_WORDS[kind]}"
            yield ReadProblem(MALFORMED, origin.under(name), f"the member {name!r} of the entry {state}")


def subject_of(entry: JsonObject, origin: SourceLocation, contract: ToolContract | None = None) -> Subject:
    """One tool from a well-formed entry. `contract` is given if its terms (tier, roles, caps ...) are known."""
    return Subject(
        contract=contract or contract_of(entry),
        entry=origin,
        input=origin.under("inputSchema"),
        output=origin.under("outputSchema"),
        has_terms=contract is not None,
    )


def contract_of(entry: JsonObject) -> ToolContract:
    """The contract of a tool as its `tools/list` entry shows it, with default terms."""
    return ToolContract(
        name=entry["name"],
        description=entry.get("description") or "",
        title=entry.get("title"),
        input_schema=entry["inputSchema"],
        output_schema=entry.get("outputSchema"),
        annotations=entry.get("annotations") or {},
    )


def tools_of(contracts: Iterable[ToolContract], label: str) -> ToolSet:
    """Contracts that are already at hand, as a source."""
    base = SourceLocation(label, "/tools")
    subjects = tuple(subject_of(entry_of(each), base.under(each.name), each) for each in contracts)
    return ToolSet(label=label, subjects=subjects)


def entry_of(contract: ToolContract) -> JsonObject:
    """The `tools/list` entry of a contract."""
    entry: dict[str, Any] = {"name": contract.name}
    if contract.title is not None:
        entry["title"] = contract.title
    entry["description"] = contract.description
    entry["inputSchema"] = contract.input_schema
    if contract.output_schema is not None:
        entry["outputSchema"] = contract.output_schema
    if contract.annotations:
        entry["annotations"] = dict(contract.annotations)
    return entry


def with_label(tools: ToolSet, label: str) -> ToolSet:
    """A listing under another name. Its locations are in the listing, so they get the name too."""

    def named(location: SourceLocation) -> SourceLocation:
        return location._replace(file=label)

    subjects = tuple(
        replace(each, entry=named(each.entry), input=named(each.input), output=named(each.output)) for each in tools.subjects
    )
    problems = tuple(each._replace(origin=named(each.origin)) for each in tools.read_problems)
    return replace(tools, label=label, subjects=subjects, read_problems=problems)


def merge(sources: Sequence[ToolSet]) -> ToolSet:
    """Several sources as one. Raises SourceRefused if two have a tool of the same name."""
    if len(sources) == 1:
        return sources[0]
    owners: dict[str, str] = {}
    for tools in sources:
        for name in tools.by_name():
            if name in owners:
                reason = f"the tool {name!r} is also in {owners[name]}; use one source at a time"
                raise SourceRefused(tools.label, reason)
            owners[name] = tools.label
    return ToolSet(
        label=", ".join(each.label for each in sources),
        subjects=tuple(subject for each in sources for subject in each.subjects),
        read_problems=tuple(problem for each in sources for problem in each.read_problems),
        texts={file: raw for each in sources for file, raw in each.texts.items()},
    )
