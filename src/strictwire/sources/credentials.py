"""The values of the OAuth client credentials grant. `oauth` uses them; this module loads no network stack."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """What the client credentials grant needs."""

    client_id: str
    secret: str = field(repr=False)
    scope: str = ""
    token_url: str = ""
    """Empty: found from the metadata of the server."""
