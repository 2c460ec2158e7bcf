"""project.references.missing: what is certainly missing. What cannot be told from the files at hand is counted in a note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.check.references import count_unverifiable
from strictwire.packs.unity.check.rule import Limits, Subject, make_subject
from strictwire.packs.unity.project.project import META
from strictwire.packs.unity.project.verdict import Verdict
from strictwire.packs.unity.references.graph import Graph
from strictwire.packs.unity.references.locate import Located
from strictwire.packs.unity.references.missing import (
    SCRIPT,
    find_broken,
    is_into_prefab,
    locate_broken,
    lost_components,
    lost_objects,
    missing_scripts,
)
from strictwire.packs.unity.references.scan import BUILD_SETTINGS, Scan
from strictwire.packs.unity.tools.notes import some, stopped
from strictwire.packs.unity.tools.pages import MAX_ITEMS, cut_page
from strictwire.packs.unity.tools.reply import Guard, Reply, Request, shorten

_SCOPES: Final[Mapping[str, tuple[str, ...]]] = {"scenes": (".unity",), "prefabs": (".prefab",)}
"""Extensions of each scope; `assets` is everything else."""

_ENTRY: Final = re.compile(r"m_Component\[(\d+)\]")

_CLOCK_EVERY: Final = 256
"""Entries between two looks at the clock: about 10 ms."""

_SCRIPTS, _REFERENCES = "missingScripts", "brokenReferences"


class _Found(NamedTuple):
    """One entry of the answer and the list it belongs to."""

    kind: str
    entry: JsonObject


def find_missing(request: Request) -> Reply:
    """project.references.missing, by file. Answers with what it has when its time is up."""
    arguments, guard = request.arguments, request.guard
    graph = request.session.index.graph(stop=guard.is_nearly_late)
    subject = make_subject(graph, Limits())
    wanted = [path for path in graph.scans if _is_in_scope(path, arguments.get("scope", "all"))]
    found: list[_Found] = []
    done = 0
    for path in wanted:
        if guard.is_late() or not _take(_in_file(subject, path, graph.scans[path].scan), found, guard):
            break
        done += 1
    is_late = graph.is_partial or done < len(wanted)
    notes = [stopped(guard.elapsed_ms, done, _total(graph, wanted))] if is_late else []
    notes += _notes(subject)
    page = cut_page("project.references.missing", arguments, found, mark=str, size_of=lambda each: len(str(each.entry)))
    output: JsonObject = {kind: [each.entry for each in page.items if each.kind == kind] for kind in (_SCRIPTS, _REFERENCES)}
    lines = [_line(each) for each in page.items]
    return Reply(
        output={**output, **page.members},
        text=shorten(lines, "... {} more; page with pageSize and cursor") or "Nothing is missing.",
        notes=(*notes, *page.notes),
        is_final=not is_late,
    )


def _take(entries: Iterator[_Found], found: list[_Found], guard: Guard) -> bool:
    """Add the entries of one file. False if time or room ran out: one file may have a million."""
    for number, each in enumerate(entries, 1):
        found.append(each)
        if len(found) >= MAX_ITEMS or (number % _CLOCK_EVERY == 0 and guard.is_late()):
            return False
    return True


def _is_in_scope(path: str, scope: str) -> bool:
    if scope in _SCOPES:
        return path.endswith(_SCOPES[scope])
    return scope == "all" or not path.endswith((".unity", ".prefab"))


def _total(graph: Graph, wanted: list[str]) -> int:
    """Files that there are to look at; those that were not scanned in time count too."""
    return graph.total if graph.is_partial else len(wanted)


def _in_file(subject: Subject, path: str, scan: Scan) -> Iterator[_Found]:
    read = partial(subject.read, path)
    for each in chain(missing_scripts(scan, subject.resolver, read), lost_components(scan, read)):
        yield _Found(_SCRIPTS, _show_script(subject, path, each))
    broken = find_broken(scan, subject.resolver)
    for each in chain(lost_objects(scan, read), locate_broken(broken, read, is_meta=path.endswith(META))):
        if each.property != SCRIPT and not is_into_prefab(each):
            yield _Found(_REFERENCES, _show_reference(subject, path, each))
    for guid in scan.assets if path != BUILD_SETTINGS else ():
        if subject.resolver.judge_guid(guid) is Verdict.MISSING_ASSET:
            yield _Found(_REFERENCES, {"path": path, "referencePath": "", "referenceGuid": guid})


def _show_script(subject: Subject, path: str, found: Located) -> JsonObject:
    names = subject.names_of(path)
    where = names.path(found.owner) if names else ""
    index = _component_index(subject, path, found)
    name = where.rpartition("/")[2] if where else ""
    context = f"Missing script component at index {index} on GameObject '{name}'" if where else "Missing script of the asset"
    return {"path": path, "gameObjectPath": where, "componentIndex": index, "context": context}


def _component_index(subject: Subject, path: str, found: Located) -> int:
    """The place of a component on its object; 0 for an asset."""
    entry = _ENTRY.match(found.property)
    if entry:
        return int(entry[1])
    names = subject.names_of(path)
    component = names.structure.components.get(found.owner) if names else None
    holder = names.structure.objects.get(component.game_object) if names and component else None
    return holder.components.index(found.owner) if holder and found.owner in holder.components else 0


def _show_reference(subject: Subject, path: str, found: Located) -> JsonObject:
    names = subject.names_of(path)
    where = names.path(found.owner) if names else ""
    place = ".".join(part for part in (found.type_name, found.property) if part)
    target = "" if found.reference.guid and not subject.project.path_of(found.reference.guid) else found.reference.file_id
    shown = f"{where}: {place}" if where else place
    return {
        "path": path,
        "referencePath": f"{shown} (fileID {target})" if target else shown,
        "referenceGuid": found.reference.guid,
    }


def _notes(subject: Subject) -> Iterator[str]:
    guids, files = count_unverifiable(subject)
    if guids:
        absent = subject.project.packages.absent
        why = f"these packages are not on disk: {some(absent)}" if absent else "some files or folders cannot be read"
        yield f"{guids} GUIDs in {files} files cannot be verified and are not reported: {why}."
    if subject.graph.unread:
        yield f"Some files are not checked: {some(sorted(subject.graph.unread))}."


def _line(found: _Found) -> str:
    entry = found.entry
    if found.kind == _SCRIPTS:
        return f"{entry['path']}: {entry['gameObjectPath'] or '-'}: {entry['context']}"
    return f"{entry['path']}: {entry['referencePath'] or '-'}: broken reference {entry['referenceGuid']}"
