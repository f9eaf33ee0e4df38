"""The log as files of a published board, for mirrors and for `verify`.

log/checkpoint             the signed head of the log, with the cosignatures of witnesses
log/registry/N.dsse.json   every registry version, as signed
log/entries/NNN            bundles of 256 entries, one per line; named as in C2SP tlog-tiles
log/entries/NNN.p/W        the last bundle, of W < 256 entries

Except for the checkpoint, files never change after they are written: a bundle that grows gets
another name. Mirrors therefore fetch each file only once.
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
    "Copy or fetch the whole folder again. If the file is also missing at its source, ask the people who run the "
    "board why, and do not trust the board until they explain it."
)


def bundle_file(number: int, width: int = BUNDLE) -> str:
    """Return the path of bundle `number`, counted from 0, which contains `width` entries.

    Source: c2sp.org/tlog-tiles: three digits per path element, with an `x` before all but the last.
    """
    elements = [f"{number % 1000:03d}"]
    while number := number // 1000:
        elements.insert(0, f"x{number % 1000:03d}")
    suffix = "" if width == BUNDLE else f".p/{width}"
    return f"{ENTRIES_FOLDER}{'/'.join(elements)}{suffix}"


def bundle_files(size: int) -> list[str]:
    """Return the paths of the bundles of a log of `size` entries, in order."""
    full, rest = divmod(size, BUNDLE)
    files = [bundle_file(number) for number in range(full)]
    return [*files, bundle_file(full, rest)] if rest else files


def read_bundles(folder: Path, size: int) -> Iterator[PublishedEntry]:
    """Yield the entries of a published log, reading one bundle at a time.

    Raises:
        BoardMismatchError: a bundle is missing, has more or fewer entries than its name states, or
            has a line that is not an entry.
    """
    # Generate the names one at a time: a checkpoint may claim so many entries that a list of
    # all names would not fit in memory.
    for start in range(0, size, BUNDLE):
        width = min(size - start, BUNDLE)
        name = bundle_file(start // BUNDLE, width)
        try:
            content = (folder / name).read_bytes()
        except OSError:
            raise BoardMismatchError(f"{name} is missing", MISSING_ADVICE) from None
        yield from parse_bundle(content, name, width)


def parse_bundle(content: bytes, name: str, width: int) -> list[PublishedEntry]:
    """Parse a bundle of `width` entries.

    Raises:
        BoardMismatchError: as for `read_bundles`.
    """
    lines = content.split(b"\n")
    if lines.pop() != b"" or len(lines) != width:
        raise BoardMismatchError(f"{name} does not contain {width} lines")
    parsed = []
    for number, line in enumerate(lines, 1):
        try:
            parsed.append(parse_entry(line))
        except BoardMismatchError:
            raise BoardMismatchError(f"{name}, line {number}, is not a log entry") from None
    return parsed
