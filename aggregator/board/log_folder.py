"""The log as files of a published board, for mirrors and for `verify`.

log/checkpoint             the signed head of the log, with the cosignatures of witnesses
log/registry/N.dsse.json   every registry version, as signed
log/entries/NNN            bundles of 256 entries, one a line; named as in C2SP tlog-tiles
log/entries/NNN.p/W        the last bundle, of W < 256 entries

A file that is written never changes: a bundle that grows gets another name. So mirrors fetch each file once.
"""

from collections.abc import Iterator
from pathlib import Path

from aggregator.errors import BoardMismatchError
from aggregator.log.publication import PublishedEntry, parse_entry
from protocol import audit

BUNDLE = 256  # entries in a full bundle
CHECKPOINT_FILE = audit.CHECKPOINT_FILE
REGISTRY_FILE = "log/registry/{version}.dsse.json"
ENTRIES_FOLDER = "log/entries/"
MISSING_ADVICE = (
    "Copy or fetch the whole folder again. A file that is missing at its origin too is for the people who run the "
    "board to explain; until then do not trust it."
)


def bundle_file(number: int, width: int = BUNDLE) -> str:
    """Return the file of bundle `number`, from 0, which holds `width` entries.

    Source: c2sp.org/tlog-tiles: three digits a path element, all but the last with an `x` before them.
    """
    elements = [f"{number % 1000:03d}"]
    while number := number // 1000:
        elements.insert(0, f"x{number % 1000:03d}")
    suffix = "" if width == BUNDLE else f".p/{width}"
    return f"{ENTRIES_FOLDER}{'/'.join(elements)}{suffix}"


def bundle_files(size: int) -> list[str]:
    """Return the files of a log of `size` entries, in order."""
    full, rest = divmod(size, BUNDLE)
    files = [bundle_file(number) for number in range(full)]
    return [*files, bundle_file(full, rest)] if rest else files


def read_bundles(folder: Path, size: int) -> Iterator[PublishedEntry]:
    """Give the entries of a published log, one bundle at a time.

    Raises:
        BoardMismatchError: a bundle is missing, has more or fewer entries than its name says, or a line is no entry.
    """
    # Named one by one: a checkpoint may speak of more entries than a list of files has room for.
    for start in range(0, size, BUNDLE):
        width = min(size - start, BUNDLE)
        name = bundle_file(start // BUNDLE, width)
        try:
            content = (folder / name).read_bytes()
        except OSError:
            raise BoardMismatchError(f"{name} is missing", MISSING_ADVICE) from None
        yield from parse_bundle(content, name, width)


def parse_bundle(content: bytes, name: str, width: int) -> list[PublishedEntry]:
    """Read one bundle of `width` entries.

    Raises:
        BoardMismatchError: as `read_bundles`.
    """
    lines = content.split(b"\n")
    if lines.pop() != b"" or len(lines) != width:
        raise BoardMismatchError(f"{name} does not hold {width} lines")
    parsed = []
    for number, line in enumerate(lines, 1):
        try:
            parsed.append(parse_entry(line))
        except BoardMismatchError:
            raise BoardMismatchError(f"{name}, line {number}, is not a log entry") from None
    return parsed
