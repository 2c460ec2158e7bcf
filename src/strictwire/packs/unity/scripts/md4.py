"""MD4 (RFC 1320), with which Unity names classes inside DLLs. Not for security; OpenSSL 3 no longer offers it."""

from __future__ import annotations

import struct
from typing import Final

_WORD: Final = 0xFFFFFFFF
_START: Final[tuple[int, ...]] = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)

_ORDERS: Final = (
    tuple(range(16)),
    (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
    (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15),
)
_SHIFTS: Final = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))
_ADDED: Final = (0, 0x5A827999, 0x6ED9EBA1)


def md4(data: bytes) -> bytes:
    """The digest of a short message."""
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + struct.pack("<Q", 8 * len(data))
    state = _START
    for at in range(0, len(padded), 64):
        state = _compress(state, struct.unpack_from("<16I", padded, at))
    return struct.pack("<4I", *state)


def _compress(state: tuple[int, ...], words: tuple[int, ...]) -> tuple[int, ...]:
    a, b, c, d = state
    for turn in range(3):
        for step, word in enumerate(_ORDERS[turn]):
            total = (a + _mix(turn, b, c, d) + words[word] + _ADDED[turn]) & _WORD
            shift = _SHIFTS[turn][step % 4]
            a, b, c, d = d, (total << shift | total >> (32 - shift)) & _WORD, b, c
    return tuple((old + new) & _WORD for old, new in zip(state, (a, b, c, d), strict=True))


def _mix(turn: int, x: int, y: int, z: int) -> int:
    if turn == 0:
        return x & y | ~x & z
    return x & y | x & z | y & z if turn == 1 else x ^ y ^ z


def class_file_id(namespace: str, name: str) -> int:
    """The file id by which a reference names a class of a DLL."""
    digest = md4(b"s\0\0\0" + namespace.encode() + name.encode())
    return int.from_bytes(digest[:4], "little", signed=True)
