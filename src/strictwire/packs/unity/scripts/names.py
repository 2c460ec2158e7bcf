"""The type name of a component: native classes by what the file says, scripts by whatever leads to their class."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from strictwire.fault.failure import Refused
from strictwire.packs.unity.project.known_scripts import KNOWN_SCRIPTS, UI_DLL
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.project.verdict import Verdict, judge_guid
from strictwire.packs.unity.scripts.assembly import ClassName, NotAnAssembly, list_classes
from strictwire.packs.unity.scripts.md4 import class_file_id
from strictwire.packs.unity.scripts.ui_classes import UI_CLASSES
from strictwire.packs.unity.yaml.objects import Component
from strictwire.packs.unity.yaml.values import Reference

MISSING_SCRIPT: Final = "Missing Script"
"""What EditorMCP calls a component whose script is gone."""

UNKNOWN_SCRIPT: Final = "MonoBehaviour"
"""A script whose class is not known, because its package is not on disk."""

MAX_ASSEMBLY: Final = 64 * 1024 * 1024
"""Bytes of a DLL that is read for its classes."""


class Standing(Enum):
    """How much is known about a script."""

    NAMED = "named"
    UNKNOWN = "unknown"
    """Its file is not on disk, and a package that may hold it is not either."""
    MISSING = "missing"
    """It is certainly not there."""


class TypeName(NamedTuple):
    """The name of a component's type."""

    name: str
    standing: Standing = Standing.NAMED


_MISSING: Final = TypeName(MISSING_SCRIPT, Standing.MISSING)
_UNKNOWN: Final = TypeName(UNKNOWN_SCRIPT, Standing.UNKNOWN)


class TypeNames:
    """Type names within one snapshot of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._scripts: dict[Reference, TypeName] = {}
        self._assemblies: dict[str, dict[int, str]] = {}

    def name_of(self, component: Component | None) -> TypeName:
        """The type of a component; None is one that has no document."""
        if component is None:
            return _MISSING
        if component.script is None:
            return TypeName(component.type_name)
        found = self.script_name(component.script)
        if found.standing is Standing.UNKNOWN and component.editor_class:
            return TypeName(_short_name(component.editor_class))
        return found

    def script_name(self, script: Reference) -> TypeName:
        """The class of a script."""
        known = self._scripts.get(script)
        if known is None:
            known = self._scripts[script] = self._find(script)
        return known

    def _find(self, script: Reference) -> TypeName:
        if not script.file_id or not script.guid:
            return _MISSING
        if script.guid == UI_DLL:
            return self._class_name(_UI, script)
        path = self._project.path_of(script.guid)
        if path is None:
            known = KNOWN_SCRIPTS.get(script.guid)
            if judge_guid(self._project, script.guid) is Verdict.MISSING_ASSET:
                return _MISSING
            return TypeName(known.class_name) if known else _UNKNOWN
        if path.lower().endswith(".dll"):
            return self._class_name(self._read_assembly(path), script)
        return TypeName(PurePosixPath(path).stem) if path.endswith(".cs") else _MISSING

    def _class_name(self, classes: dict[int, str], script: Reference) -> TypeName:
        name = classes.get(script.file_id)
        return TypeName(name) if name is not None else _UNKNOWN

    def _read_assembly(self, path: str) -> dict[int, str]:
        known = self._assemblies.get(path)
        if known is None:
            try:
                classes = list_classes(self._project.read(path, limit=MAX_ASSEMBLY))
            except (Refused, NotAnAssembly):
                classes = ()
            known = self._assemblies[path] = _by_file_id(classes)
        return known


def _by_file_id(classes: tuple[ClassName, ...]) -> dict[int, str]:
    return {class_file_id(each.namespace, each.name): each.name for each in classes}


_UI: Final = _by_file_id(
    tuple(ClassName(namespace, name) for namespace, names in UI_CLASSES.items() for name in names.split())
)


def _short_name(identifier: str) -> str:
    """`Assembly::Namespace.Class` without its assembly and namespace."""
    return identifier.rpartition("::")[2].rpartition(".")[2] or UNKNOWN_SCRIPT
