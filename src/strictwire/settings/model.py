"""The settings and their defaults. docs/SETTINGS.md is generated from the docstrings of the fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from strictwire.settings.bounds import check_range
from strictwire.settings.guard_model import GuardSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings:
    """A bearer token: one table of `[[server.tokens]]`."""

    sha256: str
    """SHA-256 of the token in hexadecimal; the token itself is never stored."""
    principal: str
    """Name of the caller, for the audit trail and policies."""
    role: str | None = None
    """Role of the caller."""
    tier: str = "core"
    """Highest tier that the caller may use."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9A-Fa-f]{64}", self.sha256):
            raise ValueError("sha256: expected 64 hexadecimal digits, the SHA-256 of the token and not the token itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Address, access and limits of the server."""

    host: str = "127.0.0.1"
    """Address to listen on. Every address except loopback requires a token."""
    port: int = 8808
    """Port to listen on; 0 selects any free port."""
    allowed_hosts: tuple[str, ...] = ()
    """Accepted values of the Host header, besides localhost, 127.0.0.1 and [::1]."""
    allowed_origins: tuple[str, ...] = ()
    """Web origins that may call the server from a browser, for example `https://app.example`."""
    tokens: tuple[TokenSettings, ...] = ()
    """Bearer tokens. If at least one is set, every HTTP request needs a token."""
    max_request_bytes: int = 4 * 1024 * 1024
    """Maximum size of one message, on every transport."""
    packs: tuple[str, ...] = ("basics",)
    """Tool packs that `strictwire serve` serves if the command line names no server."""
    tier: str = "core"
    """Highest tier that callers without a token may use."""
    lock: str | None = None
    """Lock file that every tool must match, or the server does not start; see `strictwire pin`."""
    run_logs: str = "runs"
    """Folder of the run logs of the `envelope/v1` profile; created with the first request."""
    worker_threads: int = 32
    """Number of threads for handlers that are not `async`."""
    workers: int = 1
    """Number of processes that serve HTTP. More than one per CPU core does not help."""

    def __post_init__(self) -> None:
        check_range("port", self.port, 0, 65535)
        check_range("max_request_bytes", self.max_request_bytes, 1024, 1024**3)
        check_range("worker_threads", self.worker_threads, 1, 1024)
        check_range("workers", self.workers, 1, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """The audit trail."""

    mode: Literal["sync", "batched", "off"] = "sync"
    """What a record survives once its response is sent: `sync` a power failure, `batched` a crash of the process. `off`
    records nothing."""
    folder: str | None = None
    """Folder of the trail; by default in the user's state folder."""
    key: str | None = None
    """File of the signing key; by default in the user's state folder, outside the trail."""
    store_values: bool = False
    """Whether to store arguments and results beside their digests. Secrets are redacted."""
    rotate_bytes: int = 64 * 1024 * 1024
    """Size of a log file at which a new one is started."""

    def __post_init__(self) -> None:
        check_range("rotate_bytes", self.rotate_bytes, 4096, 1024**4)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Log messages on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged."""
    format: Literal["text", "json"] = "text"
    """`json` writes one object per line. Has no effect if the author's module configures logging."""
    slow_handler_ms: int = 0
    """Warn once for each coroutine function that holds the event loop for this many milliseconds. 0 never warns and costs
    nothing; `strictwire dev` uses 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings."""

    server: ServerSettings = field(default_factory=ServerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    log: LogSettings = field(default_factory=LogSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    packs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """`[packs.<name>]`: settings of each pack; the pack's own page documents them."""
    lint: Mapping[str, Any] = field(default_factory=dict)
    """`[lint]`: ruleset, category and waivers; see `check/policy.py`."""
    breaking: Mapping[str, Any] = field(default_factory=dict)
    """`[breaking]`: the same for `strictwire breaking`."""
    unity: Mapping[str, Any] = field(default_factory=dict)
    """`[unity.check]`: severities, waivers, limits and baseline of `strictwire unity check`; see docs/UNITY.md."""
    debug_stack: bool = False
    """Whether `system/1.0` failures include a stack trace. Set only by the environment variable DEBUG_STACK=true."""
