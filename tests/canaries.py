"""Canaries: strings that are planted inside a site, and the search for them, in many disguises, in what left it.

canaries = Canaries(seed=1)
names = canaries.draw("patient id", 40)          # forty strings, each unlike any other text
finder = Finder(canaries)
finder.search(data)                              # the canaries in these bytes, whatever their disguise
"""

import base64
import bz2
import gzip
import json
import lzma
import random
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, quote_plus

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 14
PREFIX = 8  # bytes by which patterns are looked up
DEPTH = 3  # layers of wrapping that are taken off
MAX_STREAM = 4 * 2**20  # bytes that are unpacked of one compressed stream
PIECE = 256


class Canaries:
    """Strings by the carrier that they were planted in. The same seed draws the same strings."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.carriers: dict[str, str] = {}

    def draw(self, carrier: str, count: int) -> list[str]:
        """Draw words of letters, which every file name, header and identifier can hold."""
        return [self._keep(carrier, self._word()) for _ in range(count)]

    def draw_one(self, carrier: str) -> str:
        """Draw one word."""
        (word,) = self.draw(carrier, 1)
        return word

    def draw_phrases(self, carrier: str, count: int) -> list[str]:
        """Draw phrases with capitals, a space and a letter beyond ASCII, as names in free text have them."""
        return [
            self._keep(carrier, f"{self._word().title()} \u00e9{self._word()}")
            for _ in range(count)
        ]

    def add(self, carrier: str, canary: str) -> str:
        """Add a string of the test's own, such as an address, which cannot be drawn."""
        return self._keep(carrier, canary)

    def only(self, *carriers: str) -> "Canaries":
        """Return the canaries of some carriers."""
        chosen = Canaries(0)
        chosen.carriers = {
            canary: carrier for canary, carrier in self.carriers.items() if carrier in carriers
        }
        return chosen

    def _word(self) -> str:
        return "".join(self._random.choices(LETTERS, k=LENGTH))

    def _keep(self, carrier: str, canary: str) -> str:
        assert canary not in self.carriers
        self.carriers[canary] = carrier
        return canary

    def __len__(self) -> int:
        return len(self.carriers)


def base64_cores(raw: bytes) -> list[bytes]:
    """Return what base64 of something longer holds of these bytes: one text for each of three alignments."""
    cores = []
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
        begin = (0, 2, 3)[shift]
        end = len(encoded) - (1 if (shift + len(raw)) % 3 else 0)
        cores.append(encoded[begin:end])
    return cores


def deflated(raw: bytes) -> bytes:
    """Return the raw deflate stream of these bytes alone, without its last bytes, which end the stream."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(raw) + packer.flush())[:-2]


def escape_json(text: str) -> bytes:
    """Escape every character as JSON may."""
    return "".join(f"\\u{ord(letter):04x}" for letter in text).encode()


def escape_url(text: str) -> bytes:
    """Escape every byte as an address may."""
    return "".join(f"%{byte:02x}" for byte in text.encode()).encode()


Disguise = Callable[[str], bytes]
DISGUISES: dict[str, Disguise] = {
    "raw": lambda text: text.encode(),
    "upper case": lambda text: text.upper().encode(),
    "lower case": lambda text: text.lower().encode(),
    "reversed": lambda text: text[::-1].encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "upper hex": lambda text: text.encode().hex().upper().encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64 one on": lambda text: base64.b64encode(b"." + text.encode()),
    "base64 two on": lambda text: base64.b64encode(b".." + text.encode()),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(b"\xfb\xff\xbe" + text.encode()),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-le")),
    "hex of UTF-16": lambda text: text.encode("utf-16-be").hex().encode(),
    "UTF-16 little-endian": lambda text: text.encode("utf-16-le"),
    "UTF-16 big-endian": lambda text: text.encode("utf-16-be"),
    "Latin-1": lambda text: text.encode("latin-1"),
    "zlib": lambda text: zlib.compress(b"something before " + text.encode() + b" and after"),
    "zlib of it alone": lambda text: zlib.compress(text.encode()),
    "deflate without header": lambda text: deflated(text.encode()) + b"\0\0",
    "gzip": lambda text: gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "base64 of zlib": lambda text: base64.b64encode(zlib.compress(text.encode())),
    "hex of base64": lambda text: base64.b64encode(text.encode()).hex().encode(),
    "URL": lambda text: quote(text).encode(),
    "form": lambda text: quote_plus(text).encode(),
    "URL, every byte": escape_url,
    "JSON": lambda text: json.dumps(text).encode(),
    "JSON, every letter": escape_json,
}
"""What a leak may look like; the self-test plants each."""


def patterns_of(canary: str) -> set[bytes]:
    """Return the byte strings by which a canary is found."""
    texts = {canary, canary.lower(), canary.upper(), canary.title()}
    texts |= {text[::-1] for text in texts}
    plain: set[bytes] = set()
    for text in texts:
        plain |= {
            text.encode(),
            text.encode("latin-1"),
            text.encode("utf-16-le"),
            text.encode("utf-16-be"),
        }
    patterns = set(plain)
    for raw in plain:
        patterns |= {raw.hex().encode(), raw.hex().upper().encode()}
        for core in base64_cores(raw):
            patterns |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    for text in texts:
        patterns |= {
            quote(text).encode(),
            quote_plus(text).encode(),
            json.dumps(text)[1:-1].encode(),
        }
        patterns |= {
            escape_json(text),
            escape_url(text),
            escape_url(text).upper().replace(b"%U", b"%u"),
        }
        patterns |= {
            deflated(text.encode()),
            text.replace(" ", "_").encode(),
            text.replace(" ", "-").encode(),
        }
        patterns.add(text.encode("ascii", "xmlcharrefreplace"))
    return patterns


class Held(Protocol):
    """What a finder needs of canaries."""

    carriers: dict[str, str]


class Finder:
    """Looks for all canaries at once: bytes are looked up eight at a time in a table of all patterns' beginnings."""

    _MIX = np.uint64(0x9E3779B97F4A7C15)
    _SHIFT = np.uint64(40)

    def __init__(self, canaries: Held) -> None:
        self._carriers = canaries.carriers
        self._by_prefix: dict[bytes, list[tuple[bytes, str]]] = {}
        for canary in canaries.carriers:
            for pattern in patterns_of(canary):
                assert len(pattern) >= PREFIX, pattern
                self._by_prefix.setdefault(pattern[:PREFIX], []).append((pattern, canary))
        keys = np.frombuffer(b"".join(self._by_prefix), np.uint64)
        self._table = np.zeros(2**24, np.bool_)
        self._table[self._hash(keys)] = True

    def _hash(
        self, windows: "np.ndarray[tuple[int], np.dtype[np.uint64]]"
    ) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
        return (windows * self._MIX) >> self._SHIFT

    def search(self, data: bytes) -> set[str]:
        """Return the canaries that these bytes hold, in any disguise, and up to three layers of wrapping deep."""
        return self._search(bytes(data), DEPTH)

    def search_named(self, data: bytes) -> dict[str, str]:
        """Return the carrier of every canary that these bytes hold."""
        return {canary: self._carriers[canary] for canary in self.search(data)}

    def search_files(self, folder: Path) -> dict[str, dict[str, str]]:
        """Return by path what the files of a folder hold, in their bytes and in their names below it."""
        found = {}
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder)).encode()
            content = path.read_bytes() if path.is_file() else b""
            if canaries := self.search_named(name + b"\n" + content):
                found[str(path.relative_to(folder))] = canaries
        return found

    def _search(self, data: bytes, depth: int) -> set[str]:
        found = set(self._patterns_in(data))
        inner = b"\0".join(unwrap(data)) if depth else b""
        return found | self._search(inner, depth - 1) if inner else found

    def _patterns_in(self, data: bytes) -> Iterator[str]:
        for shift in range(PREFIX):
            count = (len(data) - shift) // PREFIX
            if count <= 0:
                return
            windows = np.frombuffer(data, np.uint64, count=count, offset=shift)
            for index in np.flatnonzero(self._table[self._hash(windows)]):
                at = shift + PREFIX * int(index)
                for pattern, canary in self._by_prefix.get(data[at : at + PREFIX], ()):
                    if data.startswith(pattern, at):
                        yield canary


_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_GZIP = re.compile(rb"\x1f\x8b\x08")
_ZIP = re.compile(rb"PK\x03\x04")
_BZIP2 = re.compile(rb"BZh[1-9]1AY")
_XZ = re.compile(rb"\xfd7zXZ\x00")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_HEX = re.compile(rb"[0-9a-f]{32,}|[0-9A-F]{32,}")


class Unpacker(Protocol):
    """A decompressor of the standard library."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def unwrap(data: bytes) -> Iterator[bytes]:
    """Take one layer off: compressed streams wherever they begin, and texts that decode as base64 or hex."""
    for match in _ZLIB.finditer(data):
        yield from _unpack(zlib.decompressobj(), data, match.start())
    for match in _GZIP.finditer(data):
        yield from _unpack(zlib.decompressobj(31), data, match.start())
    for match in _BZIP2.finditer(data):
        yield from _unpack(bz2.BZ2Decompressor(), data, match.start())
    for match in _XZ.finditer(data):
        yield from _unpack(lzma.LZMADecompressor(), data, match.start())
    for match in _ZIP.finditer(data):
        begin = match.start()
        names = int.from_bytes(data[begin + 26 : begin + 28], "little") + int.from_bytes(
            data[begin + 28 : begin + 30], "little"
        )
        yield from _unpack(zlib.decompressobj(-15), data, begin + 30 + names)
    for match in _BASE64.finditer(data):
        text = match[0].replace(b"-", b"+").replace(b"_", b"/")
        for skipped in range(4):
            whole = text[skipped:]
            yield base64.b64decode(whole[: len(whole) // 4 * 4])
    for match in _HEX.finditer(data):
        for skipped in range(2):
            digits = match[0][skipped:]
            yield bytes.fromhex(digits[: len(digits) // 2 * 2].decode())


def _unpack(unpacker: Unpacker, data: bytes, begin: int) -> Iterator[bytes]:
    """Unpack as far as the stream goes, piece by piece: what came before an error counts."""
    unpacked = bytearray()
    for at in range(begin, min(len(data), begin + MAX_STREAM), PIECE):
        try:
            unpacked += unpacker.decompress(data[at : at + PIECE])
        except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
            break
        if unpacker.eof or len(unpacked) > MAX_STREAM:
            break
    if unpacked:
        yield bytes(unpacked)
