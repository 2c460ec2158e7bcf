"""Negotiation of the era over HTTP. A module of its own because it imports aiohttp, which is in the extra `client`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strictwire.client.channel import Callbacks, Channel
from strictwire.client.errors import ServerGone
from strictwire.client.http import HttpClient
from strictwire.client.http_channel import HttpChannel
from strictwire.client.message import Era, Identity
from strictwire.client.negotiation import Negotiated, open_legacy, try_modern

MIN_READ_SECONDS: Final = 60.0
"""Lowest read timeout of the connections. The negotiation and every request have a timeout of their own as well."""


async def negotiate_http(
    url: str, *, identity: Identity, callbacks: Callbacks, seconds: float, headers: Mapping[str, str]
) -> tuple[Channel, Negotiated]:
    """Negotiate with the server at a URL. Raises ClientError; all connections are closed then."""
    client = HttpClient(seconds=max(seconds, MIN_READ_SECONDS))
    channel = HttpChannel(url, client=client, headers=headers, callbacks=callbacks)
    try:
        negotiated = await try_modern(channel, identity, seconds)
    except ServerGone:
        negotiated = None
    except BaseException:
        await channel.close()
        raise
    if negotiated is None:
        channel.era = Era.LEGACY
        negotiated = await open_legacy(channel, identity, seconds, channel.set_version)
    return channel, negotiated
