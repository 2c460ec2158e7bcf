"""The default folder for files that strictwire writes: the user's state folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The state folder: below XDG_STATE_HOME, or Application Support on macOS, or LOCALAPPDATA on Windows."""
    environment = os.environ if environment is None else environment
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "strictwire"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "strictwire"
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / "strictwire"
