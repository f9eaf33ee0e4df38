"""The backup commands: `backup`, `restore` and `resume`."""

from pathlib import Path

import click

from aggregator.command import count, format_option, open_home, say


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. An existing file is never overwritten.",
)
@click.option(
    "--with-keys",
    is_flag=True,
    help="Include the private keys. Protect the file like the keys.",
)
@format_option
@click.pass_context
def backup(context: click.Context, out: Path, with_keys: bool, form: str) -> None:
    """Write settings and database to one file. The service may be running."""
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
    help="SQLAlchemy URL of an empty database [default: SQLite in --dir].",
)
@format_option
@click.pass_context
def restore(context: click.Context, file: Path, database_url: str | None, form: str) -> None:
    """Restore a backup into a new directory, named by --dir, completely or not at all.

    Nothing is appended to the restored log until `resume` has compared it with a checkpoint from
    outside.
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
        "Before anything is appended, compare the log with the newest checkpoint from a witness, a published board or\n"
        "the sites' receipts: `intramural-aggregator resume --checkpoint FILE`.",
        {"directory": str(home.directory), "log_size": log_size, "keys": has_keys},
    )


@click.command()
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Signed checkpoint from outside, such as a board's log/checkpoint. May be repeated.",
)
@click.option(
    "--asked-everybody",
    is_flag=True,
    help="Confirm that every site and witness was asked and none has a newer checkpoint or receipt.",
)
@format_option
@click.pass_context
def resume(
    context: click.Context, checkpoints: tuple[Path, ...], asked_everybody: bool, form: str
) -> None:
    """Resume a restored log after checking that it is not behind what others have seen.

    A log that was not restored is not changed, but checkpoints are still compared with it.
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
        f"its tree of {count(newest.size, 'entry', 'entries')} matches the given checkpoint"
        if newest
        else ""
    )
    if was_restored:
        text = f"The log is resumed: {compared or 'based on your confirmation'}."
    else:
        text = "Nothing to resume: this log was not restored, or has already been resumed."
        text += f" Also, {compared}." if compared else ""
    say(form, text, {"resumed": was_restored, "compared_size": newest.size if newest else None})
