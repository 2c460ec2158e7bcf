"""Resolves the relative paths of a settings file against its folder, so that they do not depend on the working folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from strictwire.settings.guard_model import UpstreamSettings
from strictwire.settings.model import Settings


def anchored(settings: Settings, folder: Path) -> Settings:
    """The settings of a guard with absolute paths: audit trail, keys, lock files, programs and their working folders."""
    audit, guard = settings.audit, settings.guard
    upstreams = {name: _anchored_upstream(each, folder) for name, each in guard.upstreams.items()}
    return replace(
        settings,
        audit=replace(audit, folder=_absolute(audit.folder, folder), key=_absolute(audit.key, folder)),
        guard=replace(guard, upstreams=upstreams),
    )


def _anchored_upstream(upstream: UpstreamSettings, folder: Path) -> UpstreamSettings:
    command = upstream.command
    # A name without a slash is looked up in PATH.
    if command and (os.sep in command[0] or "/" in command[0]):
        command = (str(folder / command[0]), *command[1:])
    return replace(upstream, command=command, lock=_absolute(upstream.lock, folder), cwd=_absolute(upstream.cwd, folder))


def _absolute(path: str | None, folder: Path) -> str | None:
    return None if path is None else str(folder / path)
