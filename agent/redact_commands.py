"""Commands that redact what did not come from a run: `intramural redact jsonl|text`."""

import json
import sys
from pathlib import Path

import click

from agent.errors import RedactionError


@click.group()
def redact() -> None:
    """Redact texts and folders that did not come from a run, and measure how well redaction works."""


@redact.command()
@click.argument("source", metavar="IN.jsonl", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--field", required=True, help="The field that holds the text.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@click.option("--spans", is_flag=True, help="Write places in the original text: [[start, end, entity], ...].")
def jsonl(source: Path, field: str, out: Path, spans: bool) -> None:
    """Redact one field of every object of a JSON-lines file, in order."""
    from agent.redaction.engine import open_engine
    from agent.redaction.redacted import Withheld

    engine = open_engine("hipaa_safe_harbor")
    with source.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as written:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            if not isinstance(row, dict) or not isinstance(row.get(field), str):
                raise RedactionError(f"{source.name}: line {number}: expected an object with a text in {field}")
            text = row[field]
            if spans:
                found = engine.find_record([text])[0]
                if isinstance(found, Withheld):
                    row["spans"] = [[0, len(text), "WITHHELD"]]
                else:
                    row["spans"] = [[span.start, span.end, span.entity] for span in found]
            else:
                row[field] = engine.redact(text)
            written.write(json.dumps(row, ensure_ascii=False) + "\n")


@redact.command()
def text() -> None:
    """Redact standard input, as one text."""
    from agent.redaction import open_redactor

    click.echo(open_redactor().redact(sys.stdin.read()), nl=False)
