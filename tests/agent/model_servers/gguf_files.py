"""Writes small GGUF files with a header in due form."""

import struct
from pathlib import Path

_ALIGNMENT = 32
_UNSIGNED_32, _TEXT, _ARRAY = 4, 8, 9


def write_gguf(
    path: Path, *, context: int | None = None, template: str | None = None, version: int = 3
) -> Path:
    """Write a file with a vocabulary and one tensor of eight numbers."""
    keys = [_pack_key("general.architecture", _TEXT, _pack_text("llama"))]
    if context is not None:
        keys.append(_pack_key("llama.context_length", _UNSIGNED_32, struct.pack("<I", context)))
    words = [_pack_text(word) for word in ("a", "tokenizer.chat_template", "")]
    vocabulary = struct.pack("<IQ", _TEXT, len(words)) + b"".join(words)
    keys.append(_pack_key("tokenizer.ggml.tokens", _ARRAY, vocabulary))
    numbers = struct.pack("<IQ", _UNSIGNED_32, 3) + struct.pack("<III", 1, 2, 3)
    keys.append(_pack_key("tokenizer.ggml.token_type", _ARRAY, numbers))
    if template is not None:
        keys.append(_pack_key("tokenizer.chat_template", _TEXT, _pack_text(template)))
    header = b"GGUF" + struct.pack("<IQQ", version, 1, len(keys)) + b"".join(keys)
    header += _pack_text("w") + struct.pack("<IQIQ", 1, 8, 0, 0)
    path.write_bytes(header + bytes(-len(header) % _ALIGNMENT) + bytes(32))
    return path


def _pack_text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _pack_key(key: str, kind: int, value: bytes) -> bytes:
    return _pack_text(key) + struct.pack("<I", kind) + value
