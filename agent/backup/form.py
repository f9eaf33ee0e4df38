"""The format of a copy: a line that anyone can read, and behind it the site's files, sealed.

    {"format": "intramural-site-copy/1", "copy": ..., "made_at": ..., "keys": {...}, ...}
    length and sealed bytes, again and again

The sealed bytes are, in the clear, one member after another and then the end:

    {"name": "store/site.sqlite3", "size": ..., "mode": ..., "mtime_ns": ...}
    its bytes
    {"sha256": ...}
    {"end": true, "members": ..., "left_out": [...]}

They are sealed under a key that is derived from the site's data key, and that no other copy has. The site's keys are in
the first line, sealed with a passphrase, or not in the copy at all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from agent.errors import StoreError

FORMAT: Final = "intramural-site-copy/1"
_KIND: Final = "intramural-site-copy"
MAX_HEADER: Final = 64 * 1024  # bytes
MAX_LINE: Final = 16 * 1024  # bytes; a path has at most 4,096
STORE_MEMBER: Final = "store/site.sqlite3"
KEYS_FOLDER: Final = "keys"
KEY_NAMES: Final = ("data.key", "seal.key", "agent.key", "agent.key.new")
_ID_LENGTH: Final = 16
_ALTERED: Final = "Use another copy. Nothing was restored."


@dataclass(frozen=True, slots=True)
class SealedKeys:
    """The site's keys, sealed with a passphrase.

    Attributes:
        salt: 16 bytes, different for each copy.
        sealed: nonce and ciphertext.
    """

    salt: bytes
    sealed: bytes


@dataclass(frozen=True, slots=True)
class CopyHeader:
    """The first line of a copy.

    Attributes:
        copy_id: 16 random hex digits.
        made_at: seconds since 1970, by the store's clock.
        after_purge: number of the last deletion of texts before; the copy holds texts that later ones deleted.
        purged_at: when that was, in seconds since 1970; 0 if there was none.
        program: version of the program that made the copy.
        store_version: version of the store's tables.
        salt: 32 bytes, from which the copy's own key is derived.
        keys: the site's keys; None if they are not in the copy.
    """

    copy_id: str
    made_at: int
    after_purge: int
    purged_at: int
    program: str
    store_version: int
    salt: bytes
    keys: SealedKeys | None

    def encode(self) -> bytes:
        """Return the line, with its line break."""
        fields: dict[str, Any] = {
            "format": FORMAT,
            "copy": self.copy_id,
            "made_at": self.made_at,
            "after_purge": self.after_purge,
            "purged_at": self.purged_at,
            "program": self.program,
            "store_version": self.store_version,
            "salt": self.salt.hex(),
            "keys": None,
        }
        if self.keys is not None:
            fields["keys"] = {
                "kdf": "scrypt",
                "salt": self.keys.salt.hex(),
                "sealed": self.keys.sealed.hex(),
            }
        return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def parse_header(line: bytes) -> CopyHeader:
    """Return the header in the first line of a file.

    Raises:
        StoreError: the file is no copy of a site, is truncated, or was written by a newer version.
    """
    try:
        fields = json.loads(line)
        kind, _, version = fields["format"].partition("/")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        kind, version, fields = "", "", {}
    if kind != _KIND:
        raise StoreError(
            "this file is not a copy of a site",
            "Give a file that `intramural backup` has written. Nothing was restored.",
        )
    if version != FORMAT.partition("/")[2]:
        raise StoreError(
            f"the copy was written by a newer version of intramural ({_show(fields.get('program'))})",
            "Install that version. Nothing was restored.",
        )
    try:
        return _read_fields(fields)
    except (ValueError, TypeError, KeyError):
        raise report_altered("its first line was changed") from None


def _read_fields(fields: Mapping[str, Any]) -> CopyHeader:
    keys = None
    if fields["keys"] is not None:
        if fields["keys"]["kdf"] != "scrypt":
            raise ValueError("another derivation")
        salt, sealed = fields["keys"]["salt"], fields["keys"]["sealed"]
        keys = SealedKeys(bytes.fromhex(salt), bytes.fromhex(sealed))
    header = CopyHeader(
        copy_id=fields["copy"],
        made_at=fields["made_at"],
        after_purge=fields["after_purge"],
        purged_at=fields["purged_at"],
        program=fields["program"],
        store_version=fields["store_version"],
        salt=bytes.fromhex(fields["salt"]),
        keys=keys,
    )
    numbers = (header.made_at, header.after_purge, header.purged_at, header.store_version)
    if len(bytes.fromhex(header.copy_id)) * 2 != _ID_LENGTH or not isinstance(header.program, str):
        raise ValueError("no id")
    if any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError("no number")
    return header


def report_altered(fault: str) -> StoreError:
    """Return the error about a copy that is truncated, or was changed."""
    return StoreError(f"the copy is damaged: {fault}", _ALTERED)


def check_name(name: object) -> PurePosixPath:
    """Return the path of a member, relative to the site's directory.

    Raises:
        StoreError: it would be written outside of the directory, over a key, or is no plain path.
    """
    if not isinstance(name, str) or not name or len(name.encode("utf-8", "replace")) > 4096:
        raise report_altered("a file has no name")
    path = PurePosixPath(name)
    is_plain = str(path) == name != "." and not path.is_absolute() and "\0" not in name
    if not is_plain or ".." in path.parts or path.parts[0] == KEYS_FOLDER:
        raise report_altered("it has a file that does not belong into a site's directory")
    return path


def _show(program: object) -> str:
    return program[:40] if isinstance(program, str) and program.isprintable() else "unknown"
