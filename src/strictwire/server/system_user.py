"""The operating system user of this process: the principal of the caller over stdio."""

from __future__ import annotations

import getpass
import os
import sys


def system_user() -> str:
    """The user name, or `uid:<number>` if the user has no name. On POSIX the environment is not used: it can be forged."""
    if sys.platform == "win32":
        return getpass.getuser()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid:{os.getuid()}"
