"""CLEAR: one Excel file per condition, whose rows have a note and a human label. The options name the condition."""

from collections.abc import Iterable, Iterator

from agent.datasets.identity import ADDED, Identity
from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.readers.xlsx import load_xlsx
from agent.errors import BenchmarkError

_TEXT, _LABEL = "text", "result_human"
# Human label -> column of the option.
_OPTIONS = {"1": "has", "0": "has_not", "2": "uncertain"}


def load_clear(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the condition's file, and add `condition_name`, the three options, `gold` and the columns of `Identity`.

    `gold` is the number of the right option. `data.options` contains the name of each condition. Rows without a note
    or label are skipped, as in MedHELM. A label other than 1, 0 or 2 is an error, since the question would have no
    right answer.
    """
    condition = files.arguments["condition"]
    name = files.options.get(condition)
    if name is None:
        raise BenchmarkError(
            f"condition={condition}: the definition lacks a name for this condition in data.options"
        )
    for table, problems in load_xlsx(files):
        table.require((_TEXT, _LABEL), problems)
        added = {
            "condition_name": name,
            "has": f"Has a history of {name}",
            "has_not": f"Does not have a history of {name}",
            "uncertain": "Uncertain",
        }
        identity = Identity.choose(table.columns, files.options, condition)
        rows = _label_rows(table.rows, added, identity, problems)
        yield table.add_columns((*ADDED, *added, "gold"), rows), problems


def _label_rows(
    rows: Iterable[Row], added: dict[str, str], identity: Identity, problems: Problems
) -> Iterator[Row]:
    for row in rows:
        label = row.cells[_LABEL].strip()
        if not label or not row.cells[_TEXT].strip():
            continue
        if label not in _OPTIONS:
            problems.add(
                row.where, f"the column {_LABEL!r} is not 1 (history), 0 (none) or 2 (uncertain)"
            )
            continue
        gold = list(_OPTIONS).index(label) + 1
        identified = identity.add(row, problems)
        if identified is not None:
            yield row._replace(cells={**identified.cells, **added, "gold": str(gold)})
