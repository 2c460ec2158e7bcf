"""The signing key and where it is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from strictwire.stores.files.keys import KeyUnsafe, load_or_make_key, public_path, read_public_key


def test_a_key_is_made_once_for_its_owner_alone_with_its_public_half_beside_it(tmp_path: Path):
    path = tmp_path / "keys" / "audit.key"
    made = load_or_make_key(path, log_folder=tmp_path / "audit")
    again = load_or_make_key(path, log_folder=tmp_path / "audit")

    assert made.render() == again.render()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(file.name for file in path.parent.iterdir()) == ["audit.key", "audit.key.pub"]
    assert read_public_key(public_path(path)) == read_public_key(path) == made.public


def test_processes_that_make_the_key_at_once_agree_on_one(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from strictwire.stores.files.keys import load_or_make_key;"
        "print(load_or_make_key(Path(sys.argv[1]), log_folder=Path('/nowhere')).public.render())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "audit.key")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    keys = {process.communicate(timeout=60)[0] for process in running}

    assert len(keys) == 1


@pytest.mark.parametrize("name", ["audit.key", "deep/audit.key"])
def test_a_key_inside_the_log_it_vouches_for_is_refused(tmp_path: Path, name: str):
    with pytest.raises(KeyUnsafe) as refused:
        load_or_make_key(tmp_path / name, log_folder=tmp_path)

    assert refused.value.reason == "inside_the_log"


def test_a_key_that_others_can_read_is_refused(tmp_path: Path):
    path = tmp_path / "audit.key"
    load_or_make_key(path, log_folder=tmp_path / "audit")
    path.chmod(0o644)
    with pytest.raises(KeyUnsafe) as refused:
        load_or_make_key(path, log_folder=tmp_path / "audit")

    assert refused.value.reason == "readable_by_others"


def test_a_file_that_is_no_key_is_refused(tmp_path: Path):
    path = tmp_path / "audit.key"
    path.write_text("hello")
    path.chmod(0o600)
    with pytest.raises(KeyUnsafe) as refused:
        load_or_make_key(path, log_folder=tmp_path / "audit")
    with pytest.raises(KeyUnsafe):
        read_public_key(path)

    assert str(refused.value) == f"{path}: not a key"
