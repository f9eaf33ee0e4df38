"""Commands about back-ups: `backup`, `restore` and `resume`."""

from pathlib import Path

import click

from aggregator.command import count, format_option, open_home, say


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file; never overwritten.",
)
@click.option(
    "--with-keys",
    is_flag=True,
    help="Put the private keys into it. Keep such a file like the keys.",
)
@format_option
@click.pass_context
def backup(context: click.Context, out: Path, with_keys: bool, form: str) -> None:
    """Write settings and database into one file; the service may be running."""
    from aggregator.backup.write import write_backup

    log_size = write_backup(open_home(context), out, with_keys=with_keys)
    keys = "with the private keys" if with_keys else "without keys: keep a copy of keys/ elsewhere"
    say(
        form,
        f"Wrote {out}: {count(log_size, 'log entry', 'log entries')}, {keys}.",
        {"file": str(out), "log_size": log_size, "keys": with_keys},
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--database-url",
    default=None,
    help="SQLAlchemy URL of an empty database; none means SQLite in --dir.",
)
@format_option
@click.pass_context
def restore(context: click.Context, file: Path, database_url: str | None, form: str) -> None:
    """Restore a back-up into the new directory that --dir names, as a whole or not at all.

    Nothing is appended to the restored log until `resume` has compared it with a checkpoint that others hold.
    """
    from aggregator.backup.restore import restore_backup
    from aggregator.home import today_day
    from aggregator.log import journal
    from aggregator.registry.versions import write_copies

    home = restore_backup(file, context.obj, database_url=database_url, today_day=today_day())
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
        log_size = journal.size(connection)
    has_keys = any(home.keys.glob("*.key"))
    missing = "" if has_keys else "\nPut the key files back into keys/ (folder 0700, files 0600)."
    say(
        form,
        f"Restored {count(log_size, 'log entry', 'log entries')} to {home.directory}.{missing}\n"
        "Before anything is appended, compare it with the newest checkpoint of a witness, a published board or the\n"
        "sites' receipts: `intramural-aggregator resume --checkpoint FILE`.",
        {"directory": str(home.directory), "log_size": log_size, "keys": has_keys},
    )


@click.command()
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Signed checkpoint from outside, such as a board's log/checkpoint; may be repeated.",
)
@click.option(
    "--asked-everybody",
    is_flag=True,
    help="Every site and witness was asked, and none holds a newer checkpoint or receipt.",
)
@format_option
@click.pass_context
def resume(
    context: click.Context, checkpoints: tuple[Path, ...], asked_everybody: bool, form: str
) -> None:
    """Let a restored log go on, once it is known not to be behind what others have seen.

    On a log that was not restored this changes nothing, but checkpoints that are given are compared all the same.
    """
    from aggregator.log.restored import read_mark
    from aggregator.log.restored import resume as resume_log
    from aggregator.registry.versions import newest_registry
    from aggregator.small_file import read_small

    home = open_home(context)
    notes = [read_small(path).decode("utf-8", "replace") for path in checkpoints]
    with home.database.writing() as connection:
        registry = newest_registry(connection)
        was_restored = read_mark(connection) is not None
        newest = resume_log(
            connection, notes, registry.log_keys, registry.log_name, asked_everybody=asked_everybody
        )
    compared = (
        f"its tree of {count(newest.size, 'entry', 'entries')} is the one that others hold"
        if newest
        else ""
    )
    if was_restored:
        text = f"The log goes on: {compared or 'on your word'}."
    else:
        text = "Nothing to resume: this log was not restored, or it goes on already."
        text += f" And {compared}." if compared else ""
    say(form, text, {"resumed": was_restored, "compared_size": newest.size if newest else None})
