"""The public client. `strictwire.client` is the protocol below it: sessions, channels, negotiation."""
