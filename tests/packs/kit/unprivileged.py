"""Run one jail operation as an unprivileged user: `unprivileged.py ROOT RESOLUTION OPERATION PATH`.

Prints the code and the reason of the refusal, or `ok`. All imports happen before the privileges are dropped, because the
interpreter may be installed where only root can read.
"""

from __future__ import annotations

import os
import sys

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.root import Resolution

NOBODY = 65534


def drop_privileges() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def main(root: str, resolution: str, operation: str, path: str) -> None:
    drop_privileges()
    with Jail(root, Resolution(resolution)) as jail:
        operations = {
            "read": lambda: jail.read(path, limit=100),
            "stat": lambda: jail.stat(path),
            "list": lambda: jail.list(path, limit=100),
            "write": lambda: jail.write(path, b"changed\n"),
        }
        try:
            operations[operation]()
        except Refused as exc:
            print(exc.failure.code, exc.failure.details.get("reason"))
        else:
            print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
