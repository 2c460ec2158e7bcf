"""The module in C under the compiler's own watch: no byte outside of its buffers, nothing that C leaves undefined."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TESTS = ("tests/native/test_speed.py", "tests/contract/test_judge.py")
SECONDS = 300
_LOCATE = "import strictwire.native._speed as speed, sys; sys.exit(not speed.__file__.startswith(sys.argv[1]))"


def _run(command: list[str], **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=SECONDS, check=False)


def _runtime(name: str) -> str:
    return _run(["cc", f"-print-file-name={name}"]).stdout.decode().strip()


@pytest.mark.slow
def test_its_tests_pass_with_sanitizers(tmp_path: Path) -> None:
    source = shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    folder = source / "strictwire" / "native"
    made = folder / f"_speed{sysconfig.get_config_var('EXT_SUFFIX')}"
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-shared", "-fPIC"]
    include = f"-I{sysconfig.get_paths()['include']}"
    compiled = _run(["cc", *flags, include, *map(str, sorted(folder.glob("*.c"))), "-o", str(made)])
    assert compiled.returncode == 0, compiled.stderr.decode()
    watched = {
        "LD_PRELOAD": f"{_runtime('libasan.so')} {_runtime('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter leaves much behind at its end
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(source),
    }

    located = _run([sys.executable, "-c", _LOCATE, str(tmp_path)], **watched)
    passed = _run([sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *TESTS], **watched)

    assert located.returncode == 0, located.stderr.decode()
    assert passed.returncode == 0, passed.stdout.decode()[-2000:] + passed.stderr.decode()[-2000:]
