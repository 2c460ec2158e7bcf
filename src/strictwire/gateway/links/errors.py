"""What can go wrong on a bridge between the eras, besides what can go wrong with a connection."""

from __future__ import annotations

from strictwire.client.errors import ClientError


class Crowded(ClientError):
    """Every session that an upstream may have for clients of the other era is in use."""


class StateGone(ClientError):
    """A client comes back to a call that is no longer kept: it took too long, or came twice."""
