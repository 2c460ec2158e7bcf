"""Bytes in, bytes out. No transport knows what a message means; all hand it to the same endpoint."""
