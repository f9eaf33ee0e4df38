"""The backup format: a compressed file of JSON lines, written from one snapshot while the service may be running.

The same file can be restored to SQLite and to PostgreSQL. Its lines are

    {"format": "intramural-backup/1", "schema": ..., "log_size": ..., "keys": ...}
    {"file": NAME, "content": BASE64}         settings, and private keys if requested
    {"table": NAME, "columns": [...]}         followed by a list of values for each row
    {"sha256": HEX}                           of all preceding bytes

The log's tree is not included. It is recomputed from the envelopes and compared with the last
signed checkpoint.
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
