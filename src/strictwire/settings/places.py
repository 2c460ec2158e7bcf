"""The user's own folders: for files that strictwire writes, and for settings that apply in every working folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

STATE_VARIABLE: Final = {"darwin": "HOME", "win32": "LOCALAPPDATA"}.get(sys.platform, "XDG_STATE_HOME")
"""The environment variable that selects the state folder."""


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The state folder: below XDG_STATE_HOME, or Application Support on macOS, or LOCALAPPDATA on Windows."""
    environment = os.environ if environment is None else environment
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "strictwire"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "strictwire"
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / "strictwire"


def config_file(environment: Mapping[str, str] | None = None) -> Path:
    """The user's own settings file. Unlike one in the working folder, it is not part of a repository that was cloned."""
    environment = os.environ if environment is None else environment
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        if not folder.is_absolute():  # by the XDG specification it is ignored, and it would mean the working folder
            folder = home / ".config"
    return folder / "strictwire" / "strictwire.toml"
