"""The `import` command, which imports public results so that the board shows them next to the merged results."""

from pathlib import Path

import click

from aggregator.command import count, format_option, open_home, say


@click.group("import")
def import_() -> None:
    """Import public results from elsewhere, to show next to the merged results."""


@import_.command("helm-release")
@click.argument(
    "folder", required=False, type=click.Path(path_type=Path, file_okay=False, exists=True)
)
@click.option(
    "--name",
    metavar="NAME",
    help="Name shown on the board: letters and digits, with . _ - in between [default: the name in summary.json].",
)
@click.option(
    "--remove",
    "removed",
    metavar="NAME",
    help="Instead of FOLDER: remove the release imported as NAME.",
)
@format_option
@click.pass_context
def helm_release(
    context: click.Context, folder: Path | None, name: str | None, removed: str | None, form: str
) -> None:
    """Import the main figures of a HELM release, or remove them.

    FOLDER is the output of `helm-summarize` (schema.json, summary.json and groups/), or a folder
    with one such release under releases/. From its next publication, the board shows the figures,
    marked as not verified. They do not affect any mean, win rate or rank. A release of the same
    name is replaced.
    """
    from aggregator.board.helm_release import import_release, keep_reference, remove_reference

    if (folder is None) == (removed is None) or (removed is not None and name is not None):
        raise click.UsageError("specify either FOLDER, with or without --name, or --remove NAME")
    home = open_home(context)
    if removed is not None:
        remove_reference(removed, home.directory)
        words = (
            f"Removed {removed}. The live board no longer shows it; a published board drops it at its next "
            "publication."
        )
        say(form, words, {"removed": removed})
        return
    assert folder is not None, "checked above"
    release = import_release(folder, name)
    kept = keep_reference(release, home.directory)
    models = len({figure.model for figure in release.figures})
    benchmarks = len({figure.benchmark for figure in release.figures})
    figures = count(len(release.figures), "public figure", "public figures")
    say(
        form,
        f"Imported {figures} of {count(models, 'model', 'models')} on {count(benchmarks, 'benchmark', 'benchmarks')} "
        f"as {release.name}. The board shows them from its next publication, as not verified.\n"
        f"To remove them: `import helm-release --remove {release.name}`.",
        {
            "name": release.name,
            "figures": len(release.figures),
            "models": models,
            "benchmarks": benchmarks,
            "source": release.source,
            "file": str(kept),
        },
    )
