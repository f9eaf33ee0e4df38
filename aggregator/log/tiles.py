"""The log's tree as tiles for mirrors (c2sp.org/tlog-tiles): up to 256 adjacent hashes of every eighth level.

A full tile never changes. The name of a partial tile includes its width, so that a name always stands for the same
bytes.
"""

import re
from dataclasses import dataclass

from sqlalchemy import Connection, select

from aggregator.store.schema import nodes

WIDTH = 256  # hashes in a full tile, entries in a full bundle
TILE_HEIGHT = 8  # levels of the tree from one level of tiles to the next
MAX_TILE_LEVEL = 5  # the highest level in a log of 2^53 entries

_NAME = re.compile(r"((?:x[0-9]{3}/)*)([0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")


@dataclass(frozen=True, slots=True)
class TileName:
    """The name of a tile: its index within its level, from 0, and its number of hashes, 1 to 256."""

    number: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """The name as a path: three digits per element, with a preceding `x` in all elements but the last."""
        rest, last = divmod(self.number, 1000)
        elements = [f"{last:03d}"]
        while rest:
            rest, element = divmod(rest, 1000)
            elements.insert(0, f"x{element:03d}")
        suffix = "" if self.width == WIDTH else f".p/{self.width}"
        return "/".join(elements) + suffix


def parse_tile_name(path: str) -> TileName | None:
    """Parse a tile's name; return None if it is not in canonical form."""
    found = _NAME.fullmatch(path)
    if found is None or len(path) > 64:
        return None
    digits = found[1].replace("x", "").replace("/", "") + found[2]
    name = TileName(int(digits), int(found[3]) if found[3] else WIDTH)
    return name if name.path == path else None


def read_tile(connection: Connection, level: int, name: TileName) -> bytes | None:
    """Return the hashes of one tile; None if the log is too short for it.

    Args:
        connection: a connection to the database.
        level: level of tiles, from 0, which has the leaf hashes.
        name: name of the tile within the level.
    """
    start = name.number * WIDTH
    query = (
        select(nodes.c.hash)
        .where(
            nodes.c.level == level * TILE_HEIGHT,
            nodes.c.position >= start,
            nodes.c.position < start + name.width,
        )
        .order_by(nodes.c.position)
    )
    hashes = connection.execute(query).scalars().all()
    return b"".join(hashes) if len(hashes) == name.width else None
