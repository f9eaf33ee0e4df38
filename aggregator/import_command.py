"""Taking over results that were made elsewhere, to be shown beside the merged ones."""

from pathlib import Path

import click

from aggregator.command import format_option, open_home, say


@click.group("import")
def import_() -> None:
    """Take over public results that were made elsewhere, to be shown beside the merged ones."""


@import_.command("helm-release")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--name", help="Name on the board [default: that of the release].")
@format_option
@click.pass_context
def helm_release(context: click.Context, folder: Path, name: str | None, form: str) -> None:
    """Take over the main figures of a HELM release: schema.json, summary.json and groups/.

    The board shows them marked as not verified, from its next publication. They enter no mean, no win rate and no rank.
    A release of the same name is replaced.
    """
    from aggregator.board.helm_release import import_release, keep_reference

    home = open_home(context)
    release = import_release(folder, name)
    kept = keep_reference(release, home.directory)
    models = len({figure.model for figure in release.figures})
    benchmarks = len({figure.benchmark for figure in release.figures})
    say(
        form,
        f"Imported {len(release.figures)} public figures of {models} models on {benchmarks} benchmarks as "
        f"{release.name}. The board shows them from its next publication, as not verified.",
        {
            "name": release.name,
            "figures": len(release.figures),
            "models": models,
            "benchmarks": benchmarks,
            "source": release.source,
            "file": str(kept),
        },
    )
