"""MIMIC-IV discharge summaries with the billed ICD-10 codes: a Feather file with a list of codes in each row."""

import json
import re
from collections.abc import Iterable, Iterator

from agent.datasets.identity import ADDED, Identity
from agent.datasets.readers.files import Files
from agent.datasets.readers.parquet import load_feather
from agent.datasets.readers.table import Problems, Row, Table

# A code that JSON would read as a number, such as 3E03317.
_CODE_LIKE_A_NUMBER = re.compile(r"\d+E\d+")


def load_billing_codes(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read `mimiciv_icd10.feather`, and add the columns of `Identity` and `codes`: `target`, comma-separated."""
    for table, problems in load_feather(files):
        table.require(("text", "target"), problems)
        identity = Identity.choose(table.columns, files.options)
        rows = _read_rows(table.rows, identity, problems)
        yield table.add_columns((*ADDED, "codes"), rows), problems


def _read_rows(rows: Iterable[Row], identity: Identity, problems: Problems) -> Iterator[Row]:
    for row in rows:
        codes = _parse_codes(row.cells["target"])
        if codes is None:
            problems.add(row.where, "the column 'target' is not a list of strings")
            continue
        identified = identity.add(row, problems)
        if identified is not None:
            yield row._replace(cells={**identified.cells, "codes": ",".join(codes)})


def _parse_codes(cell: str) -> list[str] | None:
    """Return the codes of a JSON list, or a single code that is not in a list; return None for anything else."""
    if _CODE_LIKE_A_NUMBER.fullmatch(cell.strip()):
        return [cell.strip()]
    try:
        value = json.loads(cell)
    except json.JSONDecodeError:
        return [cell.strip()]
    except (ValueError, RecursionError):
        return None  # a number of thousands of digits, or lists nested too deeply
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return value
