"""The command `redact bench`: measure redaction on texts with known identifiers, or on texts without any."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import EXISTING_FILE, format_option
from agent.cli.output import show_rows
from agent.cli.redact_options import chosen, engine_options
from agent.errors import RedactionError
from agent.io.wording import format_count

if TYPE_CHECKING:
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import Level, RedactionPolicy

OURS = "intramural"
IN_PLACE = "in its place"


@click.command()
@click.option(
    "--gold",
    type=EXISTING_FILE,
    help='Texts with their identifiers, one object per line: {"text": ..., "spans": [[start, end, kind], ...]}.',
)
@click.option(
    "--plain",
    type=EXISTING_FILE,
    help="Texts without identifiers, to measure what is removed needlessly: paragraphs separated by empty lines or, in "
    'a file ending in .jsonl, one object per line: {"text": ...}.',
)
@engine_options
@click.option(
    "--engine",
    "engine",
    metavar="KIND:PATH",
    help="Your own model: spacy, transformers, gliner or onnx, or intramural for one written by `redact train`.",
)
@click.option(
    "--against",
    metavar="ENGINE",
    help="Another policy, or KIND:PATH for the same rules with a model in place of the package's own, to be compared "
    "on the same texts.",
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
    gold: Path | None,
    plain: Path | None,
    level: "Level | None",
    language: str | None,
    policy: str | None,
    engine: str | None,
    against: str | None,
    labels: tuple[str, ...],
    admit: bool,
    force: bool,
    form: str,
) -> None:
    """Measure redaction on texts of your own.

    Their identifiers are known (--gold), or they have none (--plain). With --gold, shows recall, precision, what is
    removed needlessly, and speed. With --plain, shows tags per 1,000 words by kind and the share of texts in which
    anything is removed, but no text.

    With --engine, a model of yours is measured as well, with the same rules: once in place of the package's own model
    and once in addition to it. With a --policy whose models do not include `shipped`, those models are measured; with
    --admit, they may be used from then on unless they find fewer identifiers than the package's own model.

    With --against, two engines are compared by the texts in which they leave no identifier, with McNemar's exact test.
    """
    from agent.redaction.policy.policy import load_policy

    choice = chosen(level, language, policy)
    rules = load_policy(choice.policy, Path(choice.directory or "."), choice.language)
    _check_options(
        gold, plain, engine, against, admit=admit, replaces="shipped" not in rules.models
    )
    if against is not None and gold is not None:
        _compare(gold, choice, rules, against, labels, form)
        return
    engines = {
        name: replace(choice, models=models)
        for name, models in _select_models(rules, engine, labels).items()
    }
    if plain is not None:
        _measure_plain(plain, engines, form)
    elif gold is not None:
        _measure_gold(gold, engines, rules, form, admit=admit, force=force)


def _check_options(
    gold: Path | None,
    plain: Path | None,
    engine: str | None,
    against: str | None,
    *,
    admit: bool,
    replaces: bool,
) -> None:
    """Check that the options belong together.

    Args:
        replaces: whether the policy's models replace the package's own.

    Raises:
        RedactionError: they do not.
    """
    if (gold is None) == (plain is None):
        raise RedactionError(
            "expected either --gold or --plain",
            "Give texts with their identifiers as --gold, or texts without any as --plain.",
        )
    if admit and (not replaces or engine is not None or plain is not None):
        raise RedactionError(
            "--admit: there is nothing to admit",
            "Name --gold and a --policy of yours whose `models` replace the package's own (without `shipped`).",
        )
    if against is not None and (engine is not None or admit or plain is not None):
        raise RedactionError(
            "--against cannot be combined with --engine, --admit or --plain",
            "Name one of the two engines by --policy or --level, the other by --against.",
        )


def _measure_gold(
    gold: Path,
    engines: dict[str, "EngineChoice"],
    rules: "RedactionPolicy",
    form: str,
    *,
    admit: bool,
    force: bool,
) -> None:
    """Measure engines on texts with known identifiers, and admit or refuse the models of a policy."""
    from agent.cli.redact_tables import COLUMNS, bench_rows
    from agent.redaction.measuring.bench import measure_texts, read_gold, run_bench
    from agent.redaction.models.admission import admit as note_admission

    texts = read_gold(gold)
    costs = {name: run_bench(texts, choice) for name, choice in engines.items()}
    accuracies = {name: measure_texts(texts, cost.detections) for name, cost in costs.items()}
    show_rows(bench_rows(accuracies, costs), COLUMNS, form)
    if IN_PLACE not in accuracies:
        return
    if admit:
        core, shipped_core = accuracies[IN_PLACE].all.core, accuracies[OURS].all.core
        note_admission(
            rules,
            Path(engines[OURS].directory or "."),
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


def _measure_plain(plain: Path, engines: dict[str, "EngineChoice"], form: str) -> None:
    """Measure what engines remove from texts without identifiers."""
    from agent.cli.redact_tables import COLUMNS, plain_rows
    from agent.redaction.measuring.bench import measure_texts, read_plain, run_bench

    texts = read_plain(plain)
    rows: list[dict[str, Any]] = []
    for name, choice in engines.items():
        cost = run_bench(texts, choice)
        rows += plain_rows(name, measure_texts(texts, cost.detections), cost)
    show_rows(rows, COLUMNS, form)


def _compare(
    gold: Path,
    choice: "EngineChoice",
    rules: "RedactionPolicy",
    against: str,
    labels: tuple[str, ...],
    form: str,
) -> None:
    """Measure two engines on the same texts, and compare the texts in which they leave no identifier."""
    from agent.cli.redact_tables import COLUMNS, bench_rows, comparison_rows
    from agent.redaction.measuring.bench import compare_texts, read_gold, run_bench
    from agent.redaction.measuring.comparison import compare_clean_texts
    from agent.redaction.measuring.measures import summarise_texts

    first = replace(choice, models=rules.model_dump()["models"])
    other_name, other = _choose_other(choice, against, labels)
    names = (rules.name, other_name if other_name != rules.name else f"{other_name}, --against")
    texts = read_gold(gold)
    # The other engine first, because it is the one that may not open.
    other_cost = run_bench(texts, other)
    costs = {names[0]: run_bench(texts, first), names[1]: other_cost}
    compared = {name: compare_texts(texts, cost.detections) for name, cost in costs.items()}
    accuracies = {name: summarise_texts(of_engine) for name, of_engine in compared.items()}
    comparison = compare_clean_texts(compared[names[0]], compared[names[1]])
    rows = bench_rows(accuracies, costs) + comparison_rows(*names, comparison)
    show_rows(rows, COLUMNS, form)
    if comparison.p is None:
        click.echo("no text has an identifier: there is nothing to compare", err=True)
        return
    click.echo(
        f"of {format_count(comparison.texts, 'text')} with identifiers, {comparison.only_a} clean only with "
        f"{names[0]}, {comparison.only_b} only with {names[1]}; McNemar's exact test: p = {comparison.p:.2g}",
        err=True,
    )


def _choose_other(
    choice: "EngineChoice", against: str, labels: tuple[str, ...]
) -> tuple[str, "EngineChoice"]:
    """Return the name and choice of the engine that --against names."""
    from agent.redaction.policy.policy import load_policy

    if ":" in against:
        model = _read_model(against, labels)
        return f"{model['kind']}:{Path(model['path']).name}", replace(choice, models=(model,))
    directory = Path.cwd()
    other = load_policy(against, directory, choice.language)
    models = other.model_dump()["models"]
    return other.name, replace(choice, policy=against, directory=str(directory), models=models)


def _read_model(engine: str, labels: tuple[str, ...]) -> dict[str, Any]:
    """Return the model that KIND:PATH and the meanings of its labels describe, as a policy names it."""
    kind, _, path = engine.partition(":")
    meanings: dict[str, str | None] = {}
    for label in labels:
        name, _, entity = label.partition("=")
        meanings[name] = entity or None
    return {"kind": kind, "path": str(Path(path).absolute()), "labels": meanings}


def _select_models(
    rules: "RedactionPolicy", engine: str | None, labels: tuple[str, ...]
) -> dict[str, tuple[Any, ...]]:
    """Return the models to measure, as a policy's `models` names them, by the name of their row in the table."""
    if engine is not None:
        model = _read_model(engine, labels)
        return {IN_PLACE: (model,), OURS: ("shipped",), "both models": ("shipped", model)}
    if "shipped" not in rules.models:
        return {IN_PLACE: rules.model_dump()["models"], OURS: ("shipped",)}
    return {OURS: rules.model_dump()["models"]}
