"""The form of a back-up: one compressed file of JSON lines, made from one snapshot while the service runs.

The same file restores into SQLite and into PostgreSQL. Its lines are

    {"format": "intramural-backup/1", "schema": ..., "log_size": ..., "keys": ...}
    {"file": NAME, "content": BASE64}         settings, and private keys if they were asked for
    {"table": NAME, "columns": [...]}         followed by one list of values for each row
    {"sha256": HEX}                           of all bytes before this line

The log's tree is not in it: it is worked out again from the envelopes and compared with the last signed checkpoint.
"""

import base64

from sqlalchemy import Connection, Table, func, select

from aggregator.store.schema import nodes, restorations

FORMAT = "intramural-backup/1"
LEFT_OUT = frozenset({nodes.name, restorations.name})
ROWS_AT_ONCE = 1000


def count_rows(connection: Connection, table: Table) -> int:
    """Return the number of rows of a table."""
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def encode_bytes(data: bytes) -> str:
    """Return bytes as base64."""
    return base64.b64encode(data).decode("ascii")


def decode_bytes(text: str) -> bytes:
    """Return bytes from base64. Raises ValueError."""
    return base64.b64decode(text, validate=True)
