"""Which era the server at a URL speaks. Apart from `era`, because HTTP sessions need the extra `client` (aiohttp)."""

from __future__ import annotations

from collections.abc import Mapping

from strictwire.client.channel import Channel, Inbound
from strictwire.client.era import Spoken, legacy_or_close, maybe_modern
from strictwire.client.errors import ServerGone
from strictwire.client.http import HttpClient
from strictwire.client.http_channel import HttpChannel
from strictwire.client.message import Era, Identity


async def find_era_http(
    url: str, *, identity: Identity, inbound: Inbound, seconds: float, headers: Mapping[str, str]
) -> tuple[Channel, Spoken]:
    """Agree on an era with the server at a URL. Raises ClientError; nothing is left open then."""
    channel = HttpChannel(url, client=HttpClient(seconds=max(seconds, 60)), headers=headers, inbound=inbound)
    try:
        spoken = await maybe_modern(channel, identity, seconds)
    except ServerGone:
        spoken = None
    except BaseException:
        await channel.close()
        raise
    if spoken is None:
        channel.era = Era.LEGACY
        spoken = await legacy_or_close(channel, identity, seconds, channel.agree)
    return channel, spoken
