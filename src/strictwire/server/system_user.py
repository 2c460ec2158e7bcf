"""Who runs this process, as the operating system knows it: the principal of whoever speaks to it over stdio."""

from __future__ import annotations

import getpass
import os
import sys


def system_user() -> str:
    """The name of the user; `uid:<number>` where the number has no name. What the environment claims is not asked."""
    if sys.platform == "win32":
        return getpass.getuser()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid:{os.getuid()}"
