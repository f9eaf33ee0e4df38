"""Read the verdict in a table of one row, whose heads are the names of fields. Pure."""

import re
from dataclasses import replace

from agent.reading.note_verdicts.claims import VerdictClaim
from agent.reading.note_verdicts.fields import find_in_fields
from agent.reading.note_verdicts.note import Sentences

_TABLE = re.compile(
    r"^[ \t]{0,8}\|(?P<heads>[^\n]{1,500})\|[ \t]*\n[ \t]{0,8}\|[ :|-]{2,500}\n"
    r"[ \t]{0,8}\|(?P<cells>[^\n]{1,3000})\|[ \t]*$"
    r"(?!\n[ \t]{0,8}\|)",
    re.MULTILINE,
)


def find_in_table(answer: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict of a table with one row: "| Error flag | Sentence ID |" above "| 1 | 6 |"."""
    if "|" not in answer or "--" not in answer:
        return None
    table = _TABLE.search(answer)
    if table is None:
        return None
    heads, cells = table["heads"].split("|"), table["cells"].split("|")
    if len(heads) != len(cells):
        return None
    fields = [f"{head.strip()}: {cell.strip()}" for head, cell in zip(heads, cells, strict=True)]
    claim = find_in_fields("\n".join(fields), sentences)
    return None if claim is None else replace(claim, start=table.start(), end=table.end())
