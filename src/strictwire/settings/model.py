"""The settings, with their defaults. Field docstrings are the reference: docs/SETTINGS.md is made from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from strictwire.settings.bounds import check_range
from strictwire.settings.guard_model import GuardSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings:
    """A bearer token, as one table of `[[server.tokens]]`."""

    sha256: str
    """SHA-256 of the token in hexadecimal; the token itself is never stored."""
    principal: str
    """Whose token it is, for the audit trail and policies."""
    role: str | None = None
    """The role its owner has."""
    tier: str = "core"
    """The highest tier its owner may use."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9A-Fa-f]{64}", self.sha256):
            raise ValueError("sha256: expected 64 hexadecimal digits, the SHA-256 of the token and not the token itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How and where to serve."""

    host: str = "127.0.0.1"
    """Address to listen on. Any but loopback needs a token."""
    port: int = 8808
    """Port to listen on; 0 lets the system choose."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names that are ours besides localhost, 127.0.0.1 and [::1]."""
    allowed_origins: tuple[str, ...] = ()
    """Web origins whose pages may call, such as `https://app.example`."""
    tokens: tuple[TokenSettings, ...] = ()
    """Bearer tokens; if there are any, every HTTP request needs one."""
    max_request_bytes: int = 4 * 1024 * 1024
    """Largest message accepted, on every transport."""
    packs: tuple[str, ...] = ("basics",)
    """Tool packs that `strictwire serve` offers when no server is named."""
    tier: str = "core"
    """The highest tier that callers without a token may use."""
    lock: str | None = None
    """Lock file that every offered tool must match, or the server does not start; see `strictwire pin`."""
    run_logs: str = "runs"
    """Folder of the run logs of `envelope/v1`; made when its first request comes."""
    worker_threads: int = 32
    """Threads for handlers that are plain functions."""
    workers: int = 1
    """Processes that serve HTTP side by side; one for each processor is the most that helps."""

    def __post_init__(self) -> None:
        check_range("port", self.port, 0, 65535)
        check_range("max_request_bytes", self.max_request_bytes, 1024, 1024**3)
        check_range("worker_threads", self.worker_threads, 1, 1024)
        check_range("workers", self.workers, 1, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """The audit trail."""

    mode: Literal["sync", "batched", "off"] = "sync"
    """What an answered call's record survives: a power cut, a crash of the process, or nothing is recorded."""
    folder: str | None = None
    """Where the trail is kept; by default in the user's state folder."""
    key: str | None = None
    """File of the signing key; by default in the user's state folder, outside the trail."""
    store_values: bool = False
    """Whether arguments and results are kept beside their digests (secrets redacted)."""
    rotate_bytes: int = 64 * 1024 * 1024
    """Size at which a new log file is begun."""

    def __post_init__(self) -> None:
        check_range("rotate_bytes", self.rotate_bytes, 4096, 1024**4)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Messages for people, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set."""

    server: ServerSettings = field(default_factory=ServerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    log: LogSettings = field(default_factory=LogSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    packs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """`[packs.<name>]`: what each pack is told; its own page says what it knows."""
    lint: Mapping[str, Any] = field(default_factory=dict)
    """`[lint]`: rulesets and waivers; see docs/RULES.md."""
    breaking: Mapping[str, Any] = field(default_factory=dict)
    """`[breaking]`: the same for the comparison of contracts."""
    unity: Mapping[str, Any] = field(default_factory=dict)
    """`[unity.check]`: severities, waivers, limits and baseline of `strictwire unity check`; see docs/UNITY.md."""
    debug_stack: bool = False
    """Whether `system/1.0` failures carry a stack trace; only the variable DEBUG_STACK=true sets it."""
