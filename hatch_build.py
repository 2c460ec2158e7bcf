"""Makes `strictwire.native._speed` with the package, where there is a C compiler; without one it is whole, only slower.

In an editable install the module stands in the source tree, otherwise in the wheel, which is then for this interpreter and
system alone.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FOLDER = Path("src") / "strictwire" / "native"
NAME = f"_speed{sysconfig.get_config_var('EXT_SUFFIX')}"


class SpeedHook(BuildHookInterface[Any]):
    """Called by hatchling before a wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and have the result taken in."""
        self._scratch = tempfile.TemporaryDirectory()
        if self.target_name != "wheel":
            return
        made = (ROOT / FOLDER if version == "editable" else Path(self._scratch.name)) / NAME
        try:
            compile_speed(made)
        except Exception as exc:  # noqa: BLE001 - whatever a compiler, or the want of one, comes up with
            sys.stderr.write(f"strictwire: made without C, which is slower: {exc}\n")
            made.unlink(missing_ok=True)  # one that does not go with its sources any more
            return
        if version != "editable":
            build_data["force_include"][str(made)] = f"strictwire/native/{NAME}"
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """The wheel is there: what was compiled for it is not needed any more."""
        self._scratch.cleanup()


def compile_speed(made: Path) -> None:
    """Compile the sources into one module. Raises whatever setuptools does."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).glob("*.c"))
    headers = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).glob("*.h"))
    extension = Extension("_speed", sources=sources, depends=headers, extra_compile_args=["-O3", "-Wall", "-Wextra"])
    with tempfile.TemporaryDirectory() as scratch:
        command = build_ext(Distribution({"ext_modules": [extension]}))
        command.build_lib, command.build_temp = scratch, scratch
        command.ensure_finalized()
        command.run()
        # Put in place whole, and under a new inode: a process that has the old one open goes on with it.
        draft = made.with_suffix(".new")
        draft.write_bytes((Path(scratch) / NAME).read_bytes())
        draft.chmod(0o755)
        draft.replace(made)
