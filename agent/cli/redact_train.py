"""The command `redact train`: train the package's model further on a site's own texts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.options import EXISTING_FILE
from agent.cli.redact_options import chosen, engine_options
from agent.io.wording import format_count

if TYPE_CHECKING:
    from agent.redaction.policy.policy import Level


@click.command()
@click.option(
    "--gold",
    required=True,
    type=EXISTING_FILE,
    help="Your own texts with every identifier marked, as written by `redact review gold`.",
)
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder."
)
@engine_options
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the training."
)
@click.option(
    "--force",
    is_flag=True,
    help="Write the model even if it finds fewer identifiers than the package's own.",
)
def train(
    gold: Path,
    out: Path,
    level: "Level | None",
    language: str | None,
    policy: str | None,
    seed: int,
    force: bool,
) -> None:
    """Train the package's model further on your own texts.

    The new model is measured on one text in five, which is held back from training, and is refused if it misses more
    identifiers than the package's own. It was trained on patients' texts, so protect its folder in the same way.
    """
    from agent.redaction.measuring.bench import read_gold
    from agent.redaction.measuring.fine_tuning import fine_tune
    from agent.redaction.policy.policy import load_policy

    choice = chosen(level, language, policy)
    rules = load_policy(choice.policy, Path(choice.directory or "."), choice.language)
    click.echo("learning", err=True)
    made = fine_tune(read_gold(gold), rules, out, seed=seed, force=force)
    click.echo(
        f"trained on {format_count(made.learned, 'text')}, measured on {made.held_out} held back"
    )
    for name, found in (
        ("the package's own model", made.before),
        ("the new model in its place", made.after),
    ):
        click.echo(
            f"{name}: {found.leaks} identifiers missed, core recall {found.all.core.value or 0:.4f}"
        )
    click.echo(
        "To use it, name it in a policy of yours, next to the package's own (`shipped`) or in its place:"
    )
    click.echo(f"models: [shipped, {{kind: intramural, path: {out.absolute()}}}]")
