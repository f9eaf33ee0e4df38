"""The commands `audit`: show and check the audit log, and recompute submitted results from the store."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import today_day
from agent.cli.options import FILE, format_option
from agent.cli.output import show_rows
from agent.cli.submission_context import open_gate
from agent.errors import ConfigError, DisclosureError
from agent.site.directory import Site
from agent.store import AuditHead

if TYPE_CHECKING:
    from agent.delivery.outbox import Submission
    from agent.disclosure.leaf_rescoring import LeafCheck

_MAX_LIST = 16 * 1024 * 1024  # maximum size of a file of heads, in bytes
_SHOWN_DIFFERENCES = 20
_SHORT = 12  # characters of a digest in a table


def _parse_heads(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[AuditHead, ...]:
    """Parse heads given as NUMBER:LINK, the form in which `intramural audit` prints a head."""
    from agent.disclosure.audit_report import parse_audit_head

    heads: list[AuditHead] = []
    for value in values:
        head = parse_audit_head(value)
        if head is None:
            raise click.BadParameter(
                "expected the number of an event, a colon and 64 hex digits", context, parameter
            )
        heads.append(head)
    return tuple(heads)


@click.group(invoke_without_command=True)
@format_option()
@click.pass_context
def audit(context: click.Context, form: str) -> None:
    """Show the audit log after checking its integrity.

    The check finds events that were changed, moved or removed. The last line is the log's head. If someone else keeps
    a copy of it, `audit verify --head` can later detect that the store was restored from a backup.
    """
    if context.invoked_subcommand is not None:
        return
    site: Site = context.obj
    with site.store() as store:
        events, head = store.audit.read_events(), store.audit.read_head()
    rows = [
        {
            "number": event.number,
            "at": datetime.fromtimestamp(event.at, UTC).isoformat(),
            "event": event.event,
            "detail": event.detail,
            "link": event.link,
        }
        for event in events
    ]
    show_rows(
        rows, {"number": "No.", "at": "When (UTC)", "event": "What", "detail": "Detail"}, form
    )
    if form == "table":
        click.echo(f"Head: {head.number}:{head.link}")


@audit.command()
@click.option(
    "--digest", help="Only this submission: at least the first 8 characters of its digest."
)
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="NUMBER:LINK",
    callback=_parse_heads,
    help="A head of the log that was kept outside the site; may be repeated.",
)
@click.option(
    "--heads",
    "heads_path",
    type=FILE,
    help="A file of heads kept outside the site, one line of canonical JSON per head.",
)
@format_option()
@click.pass_obj
def verify(
    site: Site, digest: str | None, heads: tuple[AuditHead, ...], heads_path: Path | None, form: str
) -> None:
    """Check the log, and recompute submitted figures from the store.

    Recomputes the root, figures and verdicts of every approved result, and names the first difference. The exit code
    is 1 unless everything matches.
    """
    from agent.disclosure.audit_report import check_heads, check_log, check_results

    kept = [*heads, *(_read_heads(heads_path) if heads_path else [])]
    with site.store() as store:
        checks = [check_log(store), *check_heads(store, kept)]
        checks += check_results(site, store, digest, today_day(site))
    rows = [
        {"what": check.subject, "outcome": check.outcome, "finding": check.finding}
        for check in checks
    ]
    show_rows(rows, {"what": "What", "outcome": "Outcome", "finding": "Finding"}, form, folds=True)
    if any(row["outcome"] != "match" for row in rows):
        raise click.exceptions.Exit(1)


@audit.command()
@click.option(
    "--digest", required=True, help="The submission: at least the first 8 characters of its digest."
)
@click.option(
    "-k",
    "count",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="Number of leaves to draw.",
)
@click.option("--seed", help="Seed of the draw, best chosen by the auditor (default: random).")
@format_option()
@click.pass_obj
def sample(site: Site, digest: str, count: int, seed: str | None, form: str) -> None:
    """Score a random sample of a submission's answers again.

    A submission commits to its scores by the root of a hash tree with one leaf per score. The command draws leaves,
    scores the stored answers behind them, and reports how many leaves of the whole tree are wrong at most, with 95 %
    confidence. The exit code is 1 unless all drawn leaves match.
    """
    import secrets

    from agent.disclosure.audit_report import require_result
    from agent.disclosure.commitment import open_leaves
    from agent.disclosure.leaf_rescoring import check_leaves
    from agent.disclosure.leaf_sampling import draw_leaves
    from agent.disclosure.recomputation import find_basis

    seed = seed if seed is not None else secrets.token_hex(16)
    gate = open_gate(site)
    submission = require_result(gate.outbox.find(digest))
    with site.store() as store:
        basis = find_basis(store, gate, submission, site.own_benchmarks)
        if basis.scores_root != submission.result.scores_root:
            raise DisclosureError(
                "the scores in the store are not those of this submission, so its leaves cannot be opened",
                "`intramural audit verify` gives details. Find out who changed the scores, or run the suite again.",
            )
        leaves = open_leaves(basis.records, draw_leaves(len(basis.records), count, seed))
        checks = check_leaves(store, basis.runs, leaves, submission.result.scores_root, site.means)
        store.audit.record(
            "leaves sampled",
            f"digest={submission.digest} leaves={len(checks)} of={len(basis.records)}",
        )
    _show_sample(submission, seed, checks, form)
    if any(check.outcome.value != "match" for check in checks):
        raise click.exceptions.Exit(1)


def _show_sample(
    submission: "Submission", seed: str, checks: "Sequence[LeafCheck]", form: str
) -> None:
    from agent.disclosure.leaf_sampling import bound_wrong_leaves

    size = checks[0].leaf.size if checks else 0
    matches = sum(check.outcome.value == "match" for check in checks)
    # A leaf that cannot be checked counts as wrong: purging texts must not make a submission look better.
    most_wrong = bound_wrong_leaves(size, len(checks), len(checks) - matches)
    if form == "json":
        rows = [
            {
                "digest": submission.digest,
                "seed": seed,
                "leaves": size,
                "drawn": len(checks),
                "matches": matches,
                "most_wrong_95": most_wrong,
                "openings": [_opening(check) for check in checks],
            }
        ]
        show_rows(rows, {}, "json")
        return
    others = [check for check in checks if check.outcome.value != "match"]
    for check in others[:_SHOWN_DIFFERENCES]:
        record = check.leaf.record
        click.echo(f"leaf {check.leaf.index}, {record.benchmark}/{record.metric}: {check.finding}")
    if len(others) > _SHOWN_DIFFERENCES:
        click.echo(f"and {len(others) - _SHOWN_DIFFERENCES} more")
    different = sum(check.outcome.value == "different" for check in checks)
    click.echo(
        f"Submission {submission.digest[:_SHORT]}: {len(checks)} of {size} leaves drawn with seed {seed}"
    )
    click.echo(
        f"  {matches} match, {different} differ, {len(others) - different} cannot be checked"
    )
    click.echo(
        f"  With 95 % confidence at most {most_wrong} of {size} leaves are wrong ({100 * most_wrong / size:.2f} %)"
        + (", those that cannot be checked counted as wrong" if len(others) > different else "")
    )


def _opening(check: "LeafCheck") -> dict[str, object]:
    """Return an opened leaf in a form that any implementation of RFC 6962 can check."""
    leaf = check.leaf
    return {
        "index": leaf.index,
        "record": leaf.record.data.decode("ascii"),
        "salt": leaf.record.salt.hex(),
        "proof": [hash_.hex() for hash_ in leaf.proof],
        "outcome": check.outcome.value,
        "finding": check.finding,
    }


def _read_heads(path: Path) -> list[AuditHead]:
    """Read a file of heads: canonical JSON, one head per line."""
    from agent.disclosure.record_check import is_link
    from agent.io.atomic_files import read_given
    from protocol.canonical import parse_canonical
    from protocol.errors import ProtocolError

    heads: list[AuditHead] = []
    lines = read_given(path, _MAX_LIST, "the file of heads").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            value = parse_canonical(line)
        except ProtocolError:
            value = None
        if not isinstance(value, dict) or set(value) != {"link", "number"}:
            raise _no_head(number)
        event, link = value["number"], value["link"]
        if not isinstance(event, int) or isinstance(event, bool) or event < 1 or not is_link(link):
            raise _no_head(number)
        heads.append(AuditHead(event, link))
    return heads


def _no_head(line: int) -> ConfigError:
    return ConfigError(
        f"line {line} of the file of heads is not a head of an audit log",
        'Each line must be canonical JSON, for example {"link":"64 hex digits","number":41}.',
    )
