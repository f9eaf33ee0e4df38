"""Read the header of a GGUF file: what it says about the model, and whether the file is as long as it should be.

The header holds keys with values (the vocabulary among them), and the place of each tensor in the rest of the file. All
numbers are little-endian. See github.com/ggml-org/ggml, docs/gguf.md.
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from agent.io.model_folder import ModelFolderError

SIGN = b"GGUF"
_VERSIONS = (2, 3)
_TEXT, _ARRAY = 8, 9
# The length in bytes of the values of each other type.
_LENGTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_UNSIGNED_32 = 4
_DEFAULT_ALIGNMENT = 32
_DEEPEST_ARRAY = 4  # arrays of arrays occur in no published file


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The part of a header that matters before a server is started.

    Attributes:
        context_length: tokens with which the model was trained; None if the header does not say it.
        has_chat_template: whether the file contains a chat template.
    """

    context_length: int | None
    has_chat_template: bool


def read_header(path: Path) -> GgufHeader | None:
    """Return the header; None for a version of the format that this module does not know.

    Raises:
        ModelFolderError: the file is truncated.
        OSError: it cannot be read.
    """
    if path.stat().st_size < len(SIGN) + 4:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        reader = _Reader(content, len(SIGN))
        if reader.take("<I") not in _VERSIONS:
            return None
        try:
            return _read_header(reader)
        except (struct.error, LookupError, OverflowError, RecursionError):
            raise ModelFolderError(f"{path.name} is truncated or damaged") from None


class _Reader:
    """A place in the file that moves on with everything that is read."""

    def __init__(self, content: mmap.mmap, position: int) -> None:
        self._content = content
        self.position = position

    @property
    def end(self) -> int:
        """The length of the file."""
        return len(self._content)

    def take(self, form: str) -> int:
        """Return a number.

        Raises:
            struct.error: the file ends before.
        """
        (number,) = struct.unpack_from(form, self._content, self.position)
        self.position += struct.calcsize(form)
        return int(number)

    def take_text(self) -> bytes:
        """Return a text, which follows its length.

        Raises:
            struct.error: the file ends before.
        """
        length = self.take("<Q")
        begin = self.position
        self.skip(length)
        return self._content[begin : self.position]

    def skip(self, length: int) -> None:
        """Move on.

        Raises:
            struct.error: the file ends before.
        """
        if length > self.end - self.position:
            raise struct.error
        self.position += length

    def skip_texts(self, count: int) -> None:
        """Move past the texts of an array. Vocabularies have hundreds of thousands, so this is as plain as it can be.

        Raises:
            struct.error: the file ends before.
        """
        unpack_length = struct.Struct("<Q").unpack_from
        content, position = self._content, self.position
        for _ in range(count):
            position += 8 + unpack_length(content, position)[0]
        self.position = position
        self.skip(0)


def _read_header(reader: _Reader) -> GgufHeader:
    tensors, keys = reader.take("<Q"), reader.take("<Q")
    numbers: dict[bytes, int] = {}
    has_chat_template = False
    for _ in range(keys):
        key, kind = reader.take_text(), reader.take("<I")
        if kind == _UNSIGNED_32:
            numbers[key] = reader.take("<I")
        else:
            _skip_value(reader, kind)
        has_chat_template = has_chat_template or (
            key == b"tokenizer.chat_template" and kind == _TEXT
        )
    _check_length(reader, tensors, numbers.get(b"general.alignment", _DEFAULT_ALIGNMENT))
    contexts = [number for key, number in numbers.items() if key.endswith(b".context_length")]
    return GgufHeader(contexts[0] if contexts else None, has_chat_template)


def _skip_value(reader: _Reader, kind: int, depth: int = 0) -> None:
    if kind == _TEXT:
        reader.skip_texts(1)
    elif kind == _ARRAY:
        inner, count = reader.take("<I"), reader.take("<Q")
        if inner == _TEXT:
            reader.skip_texts(count)
        elif inner == _ARRAY:
            if depth == _DEEPEST_ARRAY:
                raise struct.error
            for _ in range(count):
                _skip_value(reader, _ARRAY, depth + 1)
        else:
            reader.skip(count * _LENGTHS[inner])
    else:
        reader.skip(_LENGTHS[kind])


def _check_length(reader: _Reader, tensors: int, alignment: int) -> None:
    """Raise struct.error if the file ends before its last tensor begins. The engine checks the rest."""
    last = -1
    for _ in range(tensors):
        reader.take_text()
        reader.skip(8 * reader.take("<I"))  # the dimensions
        reader.skip(4)  # the type
        last = max(last, reader.take("<Q"))
    if alignment <= 0:
        raise struct.error
    reader.skip(-reader.position % alignment)
    reader.skip(last + 1)
