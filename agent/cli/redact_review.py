"""The commands `redact review new|mark|report|gold|list|delete`, with which a person checks redaction."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.options import FILE, format_option, suite_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.review.marking import MarkedSpan
    from agent.store import ReviewedText, Store

_COLUMNS = {
    "entity": "Kind",
    "found": "Found",
    "missed": "Missed",
    "recall": "Recall",
    "low": "95 % low",
    "high": "95 % high",
    "wrong": "Marked wrongly",
}
_LISTED = {
    "name": "Name",
    "made": "Made",
    "policy": "Policy",
    "records": "Records",
    "texts": "Texts",
    "reviewed": "Reviewed",
}


@click.group()
def review() -> None:
    """Have a person check redaction on the site's own texts."""


@review.command()
@click.argument("name")
@suite_option
@click.option(
    "--records",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Number of records.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed that chooses the records.")
@click.pass_obj
def new(site: Site, name: str, suite: str, records: int, seed: int | None) -> None:
    """Choose random records of a suite for a person to check.

    They are stored encrypted, with the detections of redaction.
    """
    from agent.review.sample import ReviewSampling, make_review

    made = make_review(site, ReviewSampling(name, suite, records, seed))
    click.echo(f"{format_count(made.texts, 'text')} of {format_count(made.records, 'record')}")
    if made.records < records:
        click.echo(f"{records} records were requested; only {made.records} are available", err=True)
    if made.withheld:
        click.echo(
            f"{format_count(made.withheld, 'text')} could not be redacted safely and will not be shown",
            err=True,
        )
    click.echo(with_site(f"Next: intramural redact review mark {name}"))


@review.command()
@click.argument("name")
@click.option("--again", type=click.IntRange(1), help="Review this text again.")
@click.pass_obj
def mark(site: Site, name: str, again: int | None) -> None:
    """Ask which detections in the original texts are wrong or missing.

    Only for a person who may see patients' texts; each text shown is recorded in the audit log. Detections are shown in
    brackets with their number and kind. You can stop at any time (q) and run the command again to resume.
    """
    from agent.review.sample import require_review

    with site.store() as store:
        require_review(store, name)
        texts = store.reviews.read_texts(name)
        if again is not None and again > len(texts):
            raise ConfigError(
                f"review {name} has only {format_count(len(texts), 'text')}",
                f"Give --again a number from 1 to {len(texts)}.",
            )
        for text in texts:
            is_next = text.figures is None if again is None else text.item == again
            if not is_next or text.content is None:
                continue
            if not _mark_text(store, name, text, len(texts)):
                break
        _print_progress(store, name)


@review.command()
@click.argument("name")
@format_option("csv")
@click.pass_obj
def report(site: Site, name: str, form: str) -> None:
    """Show the share of identifiers that redaction found, by kind.

    It is measured on the texts reviewed so far, with 95 % intervals.
    """
    from agent.review.estimate import summarize_review
    from agent.review.sample import require_review

    with site.store() as store:
        require_review(store, name)
        summary = summarize_review(store.reviews.read_texts(name))
    if not summary.reviewed:
        raise ConfigError(
            f"no text of review {name} has been reviewed yet",
            f"Run `intramural redact review mark {name}`.",
        )
    rows = []
    for estimate in summary.estimates:
        rows.append(
            {
                "entity": estimate.entity,
                "found": estimate.found,
                "missed": estimate.missed,
                "recall": estimate.recall.value,
                "low": estimate.recall.low,
                "high": estimate.recall.high,
                "wrong": estimate.wrong,
            }
        )
    show_rows(rows, _COLUMNS, form)
    click.echo(
        f"{summary.reviewed} of {format_count(summary.texts, 'text')} reviewed, "
        f"of {format_count(summary.records, 'record')}",
        err=True,
    )
    if not summary.is_reliable:
        click.echo(
            f"{format_count(summary.identifiers, 'identifier')}: too few for a reliable estimate; "
            "review more records",
            err=True,
        )


@review.command()
@click.argument("name")
@click.option("--out", required=True, type=FILE, help="A new file.")
@click.pass_obj
def gold(site: Site, name: str, out: Path) -> None:
    """Write the reviewed texts with all identifiers annotated.

    The file is input for `redact bench` and `redact train`. It contains original texts, so only its owner can read it,
    and writing it is recorded in the audit log.
    """
    import os

    from agent.review.sample import require_review, reveal_gold_rows

    with site.store() as store:
        require_review(store, name)
        rows = reveal_gold_rows(store, name)
        try:
            handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise ConfigError(
                f"{out.name} cannot be created ({error.strerror})", "Name a new file."
            ) from None
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle, not a path
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    click.echo(
        f"{format_count(len(rows), 'text')} written. "
        "They are original texts: keep the file inside the hospital, and delete it after use."
    )


@review.command("list")
@format_option("csv")
@click.pass_obj
def list_(site: Site, form: str) -> None:
    """List the reviews."""
    with site.store() as store:
        reviews = store.reviews.read_all()
    rows = []
    for review in reviews:
        rows.append(
            {
                "name": review.name,
                "made": datetime.fromtimestamp(review.made_at, UTC).date().isoformat(),
                "policy": review.plan["policy"],
                "records": review.plan["records"],
                "texts": review.texts,
                "reviewed": review.reviewed,
            }
        )
    show_rows(rows, _LISTED, form)


@review.command()
@click.argument("name")
@click.pass_obj
def delete(site: Site, name: str) -> None:
    """Delete a review with its texts and marks."""
    from agent.review.sample import delete_review, require_review

    with site.store() as store:
        require_review(store, name)
        delete_review(store, name)
    click.echo(f"review {name} deleted")


def _mark_text(store: "Store", name: str, text: "ReviewedText", total: int) -> bool:
    """Show one text and store the reviewer's marks; return False if the reviewer wants to stop."""
    from agent.redaction.gateway.cases import Revealing, add_system_account
    from agent.review.marking import ReviewVerdict
    from agent.review.record_marks import keep_verdict, read_spans

    assert text.content is not None
    spans = read_spans(text.content["found"])
    revealing = Revealing(
        lambda event: store.audit.record("reveal", add_system_account(event)), "review"
    )
    [[shown]] = revealing.clear_records([[text.content["text"]]], f"name={name} item={text.item}")
    click.secho(f"\nText {text.item} of {total}, {format_count(len(spans), 'mark')}", bold=True)
    click.echo(_format_marked(shown, spans))
    wrong = _ask_wrong(len(spans))
    missed = None if wrong is None else _ask_missed(shown, spans)
    if wrong is None or missed is None:
        return False
    keep_verdict(store, name, text, ReviewVerdict(spans, wrong, missed))
    return True


def _format_marked(text: str, spans: "tuple[MarkedSpan, ...]") -> str:
    """Return the text with each span in brackets, preceded by its number and entity."""
    pieces: list[str] = []
    position = 0
    for number, span in enumerate(spans, 1):
        pieces.append(printable(text[position : span.start]))
        marked = f"[{number} {span.entity}: {printable(text[span.start : span.end])}]"
        pieces.append(click.style(marked, reverse=True))
        position = span.end
    pieces.append(printable(text[position:]))
    return "".join(pieces)


def _ask_wrong(marks: int) -> frozenset[int] | None:
    """Ask for the marks that are not identifiers; return their positions from 0, or None to stop."""
    while marks:
        reply = click.prompt(
            "Marks that are not identifiers (numbers; Enter: none; q: stop)",
            default="",
            show_default=False,
        ).strip()
        if reply.casefold() == "q":
            return None
        numbers = reply.replace(",", " ").split()
        if reply == "?":
            click.echo("The numbers are in the brackets before the kind: [3 NAME: ...].")
            continue
        if all(number.isdecimal() and 1 <= int(number) <= marks for number in numbers):
            return frozenset(int(number) - 1 for number in numbers)
        click.echo(f"Give numbers from 1 to {marks}.")
    return frozenset()


def _ask_missed(text: str, spans: "tuple[MarkedSpan, ...]") -> "tuple[MarkedSpan, ...] | None":
    """Ask for missed identifiers until there are no more; return None to stop."""
    from typing import get_args

    from agent.redaction.entities import Entity
    from agent.review.marking import find_missed_spans

    kinds = get_args(Entity)
    missed: dict[tuple[int, int], MarkedSpan] = {}
    while True:
        reply = click.prompt(
            "Missed identifier, exactly as in the text, after its kind unless it is a name, e.g. DATE: 3 May "
            "(Enter: no more; q: stop)",
            default="",
            show_default=False,
        ).strip()
        if reply.casefold() == "q":
            return None
        if not reply:
            return tuple(missed[limits] for limits in sorted(missed))
        entity, words = "NAME", reply
        kind, colon, after_colon = reply.partition(":")
        if colon and kind.strip().upper() in kinds:
            entity, words = kind.strip().upper(), after_colon
        additions = find_missed_spans(text, spans, words, entity)
        missed |= {(span.start, span.end): span for span in additions}
        if additions:
            click.echo(f"{format_count(len(additions), 'mark')} added")
        else:
            click.echo(
                f"The text does not contain this, or all occurrences are already marked. Kinds: {', '.join(kinds)}"
            )


def _print_progress(store: "Store", name: str) -> None:
    texts = store.reviews.read_texts(name)
    waiting = sum(text.figures is None for text in texts)
    purged = sum(text.figures is None and text.content is None for text in texts)
    click.echo(f"{len(texts) - waiting} of {format_count(len(texts), 'text')} reviewed")
    if purged:
        click.echo(f"{format_count(purged, 'text')} purged before review", err=True)
    if waiting > purged:
        click.echo(with_site(f"Next: intramural redact review mark {name}"))
    else:
        click.echo(with_site(f"Next: intramural redact review report {name}"))
