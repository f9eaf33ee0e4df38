"""The command `redact bench`: measure redaction on texts with known identifiers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import EXISTING_FILE, format_option
from agent.cli.output import show_rows
from agent.cli.redact_options import chosen, engine_options
from agent.errors import RedactionError

if TYPE_CHECKING:
    from agent.redaction.policy.policy import Level, RedactionPolicy

OURS = "intramural"
IN_PLACE = "in its place"


@click.command()
@click.option(
    "--gold",
    required=True,
    type=EXISTING_FILE,
    help='Texts with their identifiers, one object per line: {"text": ..., "spans": [[start, end, kind], ...]}.',
)
@engine_options
@click.option(
    "--engine",
    "engine",
    metavar="KIND:PATH",
    help="Your own model: spacy, transformers, gliner or onnx, or intramural for one written by `redact train`.",
)
@click.option(
    "--label",
    "labels",
    metavar="LABEL=ENTITY",
    multiple=True,
    help="The entity kind for a label of that model.",
)
@click.option(
    "--admit", is_flag=True, help="Allow the models of --policy to replace the package's own."
)
@click.option(
    "--force", is_flag=True, help="Admit models that find fewer identifiers than the package's own."
)
@format_option()
def bench(
    gold: Path,
    level: "Level | None",
    language: str | None,
    policy: str | None,
    engine: str | None,
    labels: tuple[str, ...],
    admit: bool,
    force: bool,
    form: str,
) -> None:
    """Measure redaction on your own texts with known identifiers.

    Shows recall, precision and speed.

    With --engine, a model of yours is measured as well, with the same rules: once in place of the package's own model
    and once in addition to it. With a --policy whose models do not include `shipped`, those models are measured; with
    --admit, they may be used from then on unless they find fewer identifiers than the package's own model.
    """
    from agent.cli.redact_tables import COLUMNS, bench_rows
    from agent.redaction.measuring.bench import measure_texts, read_gold, run_bench
    from agent.redaction.models.admission import admit as note_admission
    from agent.redaction.policy.policy import load_policy

    choice = chosen(level, language, policy)
    rules = load_policy(choice.policy, Path(choice.directory or "."), choice.language)
    measured = _select_models(rules, engine, labels)
    if admit and ("shipped" in rules.models or engine is not None):
        raise RedactionError(
            "--admit: there is nothing to admit",
            "Name a --policy of yours whose `models` replace the package's own (without `shipped`).",
        )
    texts = read_gold(gold)
    costs = {
        name: run_bench(texts, replace(choice, models=models)) for name, models in measured.items()
    }
    accuracies = {name: measure_texts(texts, cost.detections) for name, cost in costs.items()}
    show_rows(bench_rows(accuracies, costs), COLUMNS, form)
    if IN_PLACE not in accuracies:
        return
    if admit:
        core, shipped_core = accuracies[IN_PLACE].all.core, accuracies[OURS].all.core
        note_admission(
            rules,
            Path(choice.directory or "."),
            (len(texts), core.n),
            core.value or 0.0,
            shipped_core.value or 0.0,
            force=force,
        )
        click.echo(
            "The models of this policy may be used from now on, as recorded in admitted_models.json in its folder.",
            err=True,
        )
    elif accuracies[IN_PLACE].leaks > accuracies[OURS].leaks and not force:
        click.echo(
            "Refused as a replacement for the package's own model: core recall is lower (--force overrides).",
            err=True,
        )
        raise click.exceptions.Exit(1)


def _select_models(
    rules: "RedactionPolicy", engine: str | None, labels: tuple[str, ...]
) -> dict[str, tuple[Any, ...]]:
    """Return the models to measure, as a policy's `models` names them, by the name of their row in the table."""
    if engine is not None:
        kind, _, path = engine.partition(":")
        meanings: dict[str, str | None] = {}
        for label in labels:
            name, _, entity = label.partition("=")
            meanings[name] = entity or None
        model = {"kind": kind, "path": str(Path(path).absolute()), "labels": meanings}
        return {IN_PLACE: (model,), OURS: ("shipped",), "both models": ("shipped", model)}
    if "shipped" not in rules.models:
        return {IN_PLACE: rules.model_dump()["models"], OURS: ("shipped",)}
    return {OURS: rules.model_dump()["models"]}
