"""audio.mixer.list and audio.mixer.snapshot.read."""

from __future__ import annotations

import math
from pathlib import PurePosixPath

from strictwire.canon.json import JsonObject
from strictwire.packs.unity.mixer import Mixer, read_mixer
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.reading import Unreadable, damaged, read_yaml
from strictwire.packs.unity.tools.notes import count, some
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.refusals import read_path, unity_error, unreadable
from strictwire.packs.unity.tools.reply import Reply, Request, shorten
from strictwire.packs.unity.yaml.faults import Malformed


def list_mixers(request: Request) -> Reply:
    """audio.mixer.list, sorted by path."""
    project, arguments = request.snapshot.project, request.arguments
    paths = sorted(path for path, asset in project.assets.items() if asset.type == "AudioMixer")
    page = cut_page("audio.mixer.list", arguments, paths, mark=str, size_of=lambda _path: 2_000)
    mixers: list[JsonObject] = []
    notes: list[str] = []
    for path in page.items:
        try:
            mixers.append(_show(path, _load(project, path)))
        except Unreadable as exc:
            notes.append(f"Audio mixer '{path}' is left out: it {exc.reason}.")
    lines = [
        f"{each['path']}: {len(each['groups'])} groups; snapshots {', '.join(one['name'] for one in each['snapshots'])}"
        for each in mixers
    ]
    text = shorten(lines, "... {} more mixers") or "No audio mixer."
    return Reply(output={"mixers": mixers, **page.members}, text=text, notes=(*notes, *page.notes))


def read_snapshot(request: Request) -> Reply:
    """audio.mixer.snapshot.read: the stored parameters, sorted by group and name."""
    arguments = request.arguments
    path, name = read_path("Audio mixer", "mixerPath", arguments["mixerPath"]), arguments["snapshotName"]
    try:
        mixer = _load(request.snapshot.project, path)
    except Unreadable as exc:
        raise unreadable("Audio mixer", "mixerPath", path, exc) from exc
    found = next((each for each in mixer.snapshots if each.name == name), None)
    if found is None:
        there = some(sorted(each.name for each in mixer.snapshots)) or "none"
        reason = f"Snapshot '{name}' does not exist in '{path}'; it has {there}"
        raise unity_error("Snapshot not found", reason, mixerPath=path, snapshotName=name)
    stored = {guid: number for guid, value in found.values.items() if (number := _maybe_number(value)) is not None}
    parameters = [_parameter(mixer, guid, value) for guid, value in stored.items()]
    parameters.sort(key=lambda each: (each["group"], each["name"]))
    absent = sorted(each.name for guid, each in mixer.parameters.items() if each.is_exposed and guid not in stored)
    notes = [f"Exposed parameters at their default are not stored: {some(absent)}."] if absent else []
    if len(stored) < len(found.values):
        notes.append(f"{count(len(found.values) - len(stored), 'stored value')} left out: not a number.")
    unknown = sum(1 for guid in stored if guid not in mixer.parameters)
    if unknown:
        notes.append(f"{count(unknown, 'stored value')} of no group or effect of the mixer; the name is an id.")
    lines = [f"{each['group'] or '?'}: {each['name']} = {each['value']}" for each in parameters]
    return Reply(
        output={"mixerPath": path, "snapshotName": name, "parameters": parameters},
        text=shorten(lines, "... {} more parameters") or "No stored parameter.",
        notes=tuple(notes),
    )


def _load(project: Project, path: str) -> Mixer:
    if not path.endswith(".mixer"):
        raise unity_error("Not an audio mixer", f"'{path}' is not an audio mixer; expected a .mixer file", mixerPath=path)
    raw = read_yaml(project, path)
    try:
        return read_mixer(raw)
    except Malformed as exc:
        raise damaged(exc) from exc


def _show(path: str, mixer: Mixer) -> JsonObject:
    return {
        "path": path,
        "name": PurePosixPath(path).stem,
        "groups": [{"name": each.name, "path": each.path} for each in mixer.groups],
        "snapshots": [{"name": each.name} for each in mixer.snapshots],
    }


def _parameter(mixer: Mixer, guid: str, value: float) -> JsonObject:
    found = mixer.parameters.get(guid)
    return {"name": found.name if found else guid, "value": value, "group": found.group if found else ""}


def _maybe_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
