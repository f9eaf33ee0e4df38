"""Taking over results that were made elsewhere, to be shown beside the merged ones."""

from pathlib import Path

import click

from aggregator.command import count, format_option, open_home, say


@click.group("import")
def import_() -> None:
    """Show public results that were made elsewhere beside the merged ones."""


@import_.command("helm-release")
@click.argument(
    "folder", required=False, type=click.Path(path_type=Path, file_okay=False, exists=True)
)
@click.option(
    "--name",
    metavar="NAME",
    help="What the board calls it: letters, digits, and . _ - between them [default: the name in summary.json].",
)
@click.option(
    "--remove",
    "removed",
    metavar="NAME",
    help="Instead of FOLDER: take out what was imported as NAME.",
)
@format_option
@click.pass_context
def helm_release(
    context: click.Context, folder: Path | None, name: str | None, removed: str | None, form: str
) -> None:
    """Take over the main figures of a HELM release, or take them out again.

    FOLDER is what `helm-summarize` wrote: schema.json, summary.json and groups/, or a folder with one such release
    under releases/. The board shows the figures marked as not verified, from its next publication. They enter no mean,
    no win rate and no rank. A release of the same name is replaced.
    """
    from aggregator.board.helm_release import import_release, keep_reference, remove_reference

    if (folder is None) == (removed is None) or (removed is not None and name is not None):
        raise click.UsageError("give either FOLDER, with or without --name, or --remove NAME")
    home = open_home(context)
    if removed is not None:
        remove_reference(removed, home.directory)
        words = f"Took out {removed}. The live board shows it no longer, and a published one from its next publication."
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
        f"To take them out: `import helm-release --remove {release.name}`.",
        {
            "name": release.name,
            "figures": len(release.figures),
            "models": models,
            "benchmarks": benchmarks,
            "source": release.source,
            "file": str(kept),
        },
    )
