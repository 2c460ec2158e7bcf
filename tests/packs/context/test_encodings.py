"""Conversion to UTF-8, and the border between text and binary data."""

from __future__ import annotations

import random

import pytest

from strictwire.packs.context.encodings import NotText, UnknownEncoding, to_utf8

TEXTS = {
    "cp1252": "Die Größe der Datei überschreitet die zulässige Länge. Bitte wählen Sie eine kürzere Überschrift. ",
    "cp1251": "Система обнаружила ошибку в конце файла. Пожалуйста, проверьте параметры и повторите попытку. ",
    "koi8_r": "Система обнаружила ошибку в конце файла. Пожалуйста, проверьте параметры и повторите попытку. ",
    "shift_jis": "ファイルの終わりで予期しないエラーが検出されました。データが保存されている設定を確認してください。",
    "gb18030": "系统在文件末尾检测到意外错误。请检查保存数据的设置，然后再试一次。这是一个中文文档。",
}


@pytest.mark.parametrize("raw", [b"", b"plain", "größer".encode(), "\ufeffmark".encode()])
def test_utf_8_is_returned_as_it_is(raw: bytes) -> None:
    assert to_utf8(raw) == (raw, "")


@pytest.mark.parametrize("encoding", sorted(TEXTS))
@pytest.mark.parametrize("repeat", [1, 2000])
def test_other_encodings_are_detected_and_converted(encoding: str, repeat: int) -> None:
    text = TEXTS[encoding] * repeat
    converted, found = to_utf8(text.encode(encoding))

    assert converted.decode() == text
    assert found


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_names_the_encoding(encoding: str) -> None:
    assert to_utf8("größer".encode(encoding)) == ("größer".encode(), encoding)


@pytest.mark.parametrize("raw", [b"a\0b", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), random.Random(7).randbytes(5000)])
def test_binary_data_is_not_text(raw: bytes) -> None:
    with pytest.raises(NotText):
        to_utf8(raw)


def test_text_that_does_not_fit_its_mark_is_an_unknown_encoding() -> None:
    with pytest.raises(UnknownEncoding):
        to_utf8(b"\xff\xfea")
