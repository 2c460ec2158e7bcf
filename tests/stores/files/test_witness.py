"""Witnesses that are a file, a command and an HTTP endpoint."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from strictwire.audit.checkpoint import PublicKey, SigningKey
from strictwire.audit.cosign import find_cosigned
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.evidence import read_witnessed
from strictwire.stores.files.keys import load_or_make_witness_key, public_path, read_public_key
from strictwire.stores.files.proofs import list_checkpoints
from strictwire.stores.files.witness import (
    WitnessRefused,
    append_note,
    ask_command,
    ask_file,
    ask_url,
    serve_request,
    witness_trail,
    witnessed_path,
)
from tests.stores.files.tampering import ROTATE, build, start_again
from tests.stores.trails import body, trail_in

TIME = 1_700_000_000


@pytest.fixture
def trail(tmp_path: Path) -> TrailConfig:
    trail = trail_in(tmp_path, rotate_bytes=ROTATE)
    build(trail)
    return trail


def key_of(trail: TrailConfig) -> PublicKey:
    return read_public_key(public_path(trail.key_path))


def grow(trail: TrailConfig) -> int:
    log = open_writer(trail)
    log.append([body("more")] * 3)
    log.sign()
    log.close()
    return list_checkpoints(trail.folder, key_of(trail))[-1]


class Witness:
    """A witness over HTTP."""

    def __init__(self, folder: Path, log: PublicKey) -> None:
        self.key: SigningKey = load_or_make_witness_key(folder / "witness.key")
        kept = self.kept = folder / "seen"
        key = self.key

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                reply = serve_request(data, logs=[log], kept=kept, key=key, seconds=TIME)
                self.send_response(reply.status if self.path == "/log/add-checkpoint" else 404)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/log/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def witness(trail: TrailConfig, tmp_path: Path) -> Iterator[Witness]:
    witness = Witness(tmp_path / "witness", key_of(trail))
    yield witness
    witness.server.shutdown()
    witness.server.server_close()


def test_an_http_witness_cosigns_a_log_that_grows(trail: TrailConfig, witness: Witness):
    key, ask = key_of(trail), ask_url(witness.url)
    first = witness_trail(trail, key, ask, witness=witness.key.public)
    again = witness_trail(trail, key, ask, witness=witness.key.public)
    size = grow(trail)
    second = witness_trail(trail, key, ask, witness=witness.key.public)
    kept = [each.size for each in read_witnessed(witnessed_path(trail), key, witness.key.public)]

    assert (first.is_new, again.is_new, second.is_new) == (True, False, True)
    assert kept == [first.checkpoint.size, size]
    assert kept == [each.size for each in read_witnessed(witness.kept, key, witness.key.public)]
    assert find_cosigned(second.checkpoint.note, witness.key.public) is None, "the log itself stays as it was signed"


def test_a_witness_that_knows_more_than_we_remember_is_asked_again(trail: TrailConfig, witness: Witness):
    key, ask = key_of(trail), ask_url(witness.url)
    witness_trail(trail, key, ask)
    witnessed_path(trail).unlink()
    grow(trail)

    assert witness_trail(trail, key, ask).is_new


def test_an_http_witness_refuses_a_rewritten_history(trail: TrailConfig, witness: Witness):
    key, ask = key_of(trail), ask_url(witness.url)
    witness_trail(trail, key, ask)
    start_again(trail, [f"other {number}" for number in range(50)])
    with pytest.raises(WitnessRefused) as longer:
        witness_trail(trail, key, ask)
    start_again(trail, ["other"])
    with pytest.raises(WitnessRefused) as shorter:
        witness_trail(trail, key, ask)

    assert "history was rewritten" in longer.value.reason
    assert "earlier state" in shorter.value.reason


def test_a_forged_cosignature_is_refused(trail: TrailConfig, witness: Witness, tmp_path: Path):
    other = load_or_make_witness_key(tmp_path / "other.key")

    with pytest.raises(WitnessRefused):
        witness_trail(trail, key_of(trail), ask_url(witness.url), witness=other.public)


def test_a_command_is_a_witness(trail: TrailConfig, tmp_path: Path):
    key = tmp_path / "elsewhere" / "witness.key"
    command = [sys.executable, "-m", "strictwire.cli.main", "audit", "cosign"]
    command += ["--log-key", str(public_path(trail.key_path)), "--witness-key", str(key)]
    seen = witness_trail(trail, key_of(trail), ask_command(command))
    start_again(trail, ["other"])

    assert seen.is_new
    assert read_witnessed(witnessed_path(trail), key_of(trail), read_public_key(public_path(key)))
    with pytest.raises(WitnessRefused):
        witness_trail(trail, key_of(trail), ask_command(command))


@pytest.mark.parametrize("code", ["", "print('hello')", "raise SystemExit(7)"])
def test_a_command_that_is_no_witness_is_refused(trail: TrailConfig, code: str):
    with pytest.raises(WitnessRefused):
        witness_trail(trail, key_of(trail), ask_command([sys.executable, "-c", code]))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:80", "http://"])
def test_an_address_that_is_none_is_refused(url: str):
    with pytest.raises(WitnessRefused):
        ask_url(url)


def test_a_log_that_the_witness_does_not_know_is_refused(witness: Witness, tmp_path: Path):
    other = trail_in(tmp_path / "other")
    build(other)
    with pytest.raises(WitnessRefused) as refused:
        witness_trail(other, key_of(other), ask_url(witness.url))

    assert refused.value.reason == "it does not know this log"


def test_the_logs_of_workers_are_known_by_the_key_of_the_server(trail: TrailConfig, witness: Witness):
    worker = trail.for_worker(1)
    build(worker)

    assert witness_trail(worker, key_of(trail).for_log("worker-1"), ask_url(witness.url)).is_new
    assert witness_trail(trail, key_of(trail), ask_url(witness.url)).is_new


def test_a_file_keeps_what_it_has_seen_after_a_crash_cut_its_last_line(trail: TrailConfig, tmp_path: Path):
    seen, key = tmp_path / "elsewhere" / "checkpoints", key_of(trail)
    witness_trail(trail, key, ask_file(seen, key))
    whole = seen.read_bytes()
    append_note(seen, b"")
    seen.write_bytes(whole + whole[:30])
    append_note(seen, whole)

    assert seen.read_bytes() == whole * 2
