"""The command `demo`: a complete example, with the commands that a real site and aggregator use.

Each step shows its command and runs it in a separate process, so that every step can be repeated by hand. Steps that
an earlier demo in the same folder completed are skipped.
"""

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Final

import click

from agent.cli import demo_model
from agent.cli.demo_folder import Demo
from agent.cli.demo_ward import BENCHMARK, SUBGROUPS, write_benchmark
from agent.io.packaged import shipped

BENCHMARKS: Final = (
    "pubmed_qa",
    "med_qa",
    "med_mcqa",
    "head_qa",
    "medcalc_bench",
    "medec",
    "race_based_med",
    demo_model.JUDGED,
)
BASELINES: Final = {
    "baseline/first-choice": "First choice",
    "baseline/retrieval": "Word overlap",
    "baseline/lead": "Lead sentences",
    "baseline/random": "Random choice",
}
SUITE: Final = "demo"
SCORECARD: Final = "demo"
PLANNED: Final = "baseline/retrieval"  # the demo plans this model's evaluation before running it
ORIGIN: Final = "board.demo.example"


@click.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("intramural-demo"),
    show_default=True,
    help="Folder of the demo; give the same folder again to continue.",
)
def demo(directory: Path) -> None:
    """Demonstrate all of Intramural on this machine.

    Uses real samples and invented patients: a site evaluates reference baselines, a second person approves the
    submissions, and an aggregator publishes the board.
    """
    started_at = time.monotonic()
    demo_folder = Demo(directory)
    directory.mkdir(parents=True, exist_ok=True)
    _print_title(1, "The hospital creates a site: keys, settings, encrypted store")
    make_site(demo_folder)
    _print_title(2, "The central team creates an aggregator and registers scorecard and models")
    make_aggregator(demo_folder)
    _print_title(
        3,
        "The site runs benchmarks against an inference server (here: reference baselines, no language models)",
    )
    run_baselines(demo_folder)
    _print_title(
        4, "The site serves a language model itself, and a jury grades what it writes in free text"
    )
    demo_model.run_language_model(demo_folder, SUITE)
    demo_folder.agent("summarize", "--suite", SUITE)
    _print_title(
        5, "The site joins the federation: fingerprints are compared, the registry is signed"
    )
    with demo_folder.serve(
        "intramural-aggregator", "--dir", demo_folder.aggregator, "serve", "--port", "0"
    ) as line:
        click.echo(f"aggregator: {line}")
        point_site_at(demo_folder, line.split()[-1])
        join_federation(demo_folder)
        _print_title(
            6,
            "The site registers a private dataset and plans one evaluation; the steward approves both",
        )
        register_and_plan(demo_folder)
        _print_title(7, "The site runs the private benchmark on the registered version")
        run_private_benchmark(demo_folder)
        _print_title(
            8,
            "The site prepares and shows the submissions, the steward approves them, and they are sent",
        )
        submit(demo_folder)
    _print_title(9, "The aggregator publishes the board, which is then recomputed from the log")
    publish(demo_folder)
    _print_end(demo_folder, time.monotonic() - started_at)


def _print_end(demo_folder: Demo, seconds: float) -> None:
    """Print the path of the board and the command that shows the site's own pages."""
    board = (demo_folder.board / "index.html").absolute()
    program = Path(sys.executable).parent / "intramural"
    view = [
        str(program) if program.exists() else "intramural",
        "--site",
        str(demo_folder.site),
        "view",
    ]
    click.echo()
    click.secho(f"Done in {seconds:.0f} s. The board: {board}", bold=True)
    click.echo(f"The site's own pages, with redacted answers: {shlex.join(view)}")


def _print_title(number: int, text: str) -> None:
    click.echo()
    click.secho(f"{number}. {text}", bold=True)


def make_site(demo_folder: Demo) -> None:
    """Create the site, and the steward's key in a folder that represents the steward's machine."""
    if (demo_folder.site / "site.yaml").exists():
        click.echo("created by an earlier demo in this folder")
    else:
        demo_folder.agent("init", demo_folder.site, "--site-name", "Demo Hospital")
        with (demo_folder.site / "site.yaml").open("a", encoding="utf-8") as settings:
            settings.write("unsafe_one_account_approval: true\n")
    click.secho(
        "In this demo one account also acts as the steward (unsafe_one_account_approval: true in site.yaml). In a "
        "hospital the steward is another person, with a key that this account cannot read.",
        fg="yellow",
    )
    if not demo_folder.own_benchmark.exists():
        write_benchmark(demo_folder.own_benchmark)
        click.echo(f"{BENCHMARK}: the hospital's own benchmark, on invented patients of four wards")
    if not demo_folder.steward_key.exists():
        demo_folder.steward_key.parent.mkdir(mode=0o700, exist_ok=True)
        demo_folder.agent("steward-key", "--out", demo_folder.steward_key)


def make_aggregator(demo_folder: Demo) -> None:
    """Create the aggregator; register a scorecard of the demo's benchmarks, the language model and the baselines."""
    if (demo_folder.aggregator / "aggregator.yaml").exists():
        click.echo("created by an earlier demo in this folder")
        return
    scorecard = demo_folder.directory / "scorecard.json"
    if not scorecard.exists():
        benchmarks = (*BENCHMARKS, BENCHMARK)
        demo_model.write_judges(demo_folder)
        options = ("--subgroup", SUBGROUPS, "--judges", demo_folder.judges)
        names = ("--name", SCORECARD, "--out", scorecard)
        demo_folder.agent("benchmarks", "scorecard", *benchmarks, *options, *names)
    models = demo_folder.directory / "models.yaml"
    lines = demo_model.describe_registration()
    for name, display_name in BASELINES.items():
        lines += [f"- name: {name}", f"  display_name: {display_name} (baseline)"]
        lines += ["  organization: Intramural", "  is_language_model: false"]
    models.write_text("\n".join(lines) + "\n", "utf-8")
    demo_folder.central(
        "init",
        "--origin",
        ORIGIN,
        "--name",
        "Demo board",
        "--scorecard",
        scorecard,
        "--models",
        models,
    )


def run_baselines(demo_folder: Demo) -> None:
    """Run every benchmark for every baseline."""
    with demo_folder.serve("intramural", "baselines", "serve", "--port", "0") as url:
        click.echo(f"reference baselines at {url}")
        write_deployments(demo_folder, url)
        entries = shipped("benchmarks") / "run_entries_public.conf"
        demo_folder.agent(
            "run", "--suite", SUITE, "--conf-paths", entries, "--models-to-run", *BASELINES, shown=1
        )


def write_deployments(demo_folder: Demo, url: str) -> None:
    """Write the site's deployments: the language model if it is installed, and the baselines.

    Answers are stored under the names, without the port.
    """
    lines = ["model_deployments:", *demo_model.describe_deployment()]
    for name in BASELINES:
        lines += [f"  - name: {name}", f"    model_name: {name}", "    client_spec:"]
        lines += ["      class_name: helm.clients.vllm_client.VLLMChatClient"]
        lines += [f"      args: {{base_url: '{url}', vllm_model_name: {name}}}"]
    demo_folder.deployments.write_text("\n".join(lines) + "\n", "utf-8")


def point_site_at(demo_folder: Demo, url: str) -> None:
    """Write the aggregator's address into the site's settings; its port differs from demo to demo."""
    settings = demo_folder.site / "site.yaml"
    lines = [
        line
        for line in settings.read_text("utf-8").splitlines()
        if not line.startswith("aggregator_url:")
    ]
    settings.write_text("\n".join([*lines, f"aggregator_url: {url}"]) + "\n", "utf-8")


def join_federation(demo_folder: Demo) -> None:
    """Enrol the site, unless it is enrolled already."""
    if "this site is enrolled" in _update_registry(demo_folder):
        click.echo("the site is enrolled already")
        return
    if not demo_folder.invite.exists():
        demo_folder.central(
            "invite",
            "--site-name",
            "Demo Hospital",
            "--publication",
            "named",
            "--out",
            demo_folder.invite,
        )
    demo_folder.agent(
        "enroll", "--invite", demo_folder.invite, "--steward-key", demo_folder.steward_key
    )
    demo_folder.central("enroll", "--pending", "--fingerprint-checked")
    demo_folder.agent("registry", "update")


def register_and_plan(demo_folder: Demo) -> None:
    """Register the private dataset and plan the evaluation of one model; skip steps done by an earlier demo."""
    kinds = {str(row["kind"]) for row in _list_submissions(demo_folder)}
    if "dataset" not in kinds:
        demo_folder.agent("datasets", "register", BENCHMARK)
        approve_and_send(demo_folder)
    if "plan" not in kinds:
        demo_folder.agent("submission", "plan", "--scorecard", SCORECARD, "--model", PLANNED)
        approve_and_send(demo_folder)


def run_private_benchmark(demo_folder: Demo) -> None:
    """Run the hospital's own benchmark for every baseline."""
    with demo_folder.serve("intramural", "baselines", "serve", "--port", "0") as url:
        write_deployments(demo_folder, url)
        entries = ("--run-entries", BENCHMARK, "--models-to-run", *BASELINES)
        demo_folder.agent("run", "--suite", SUITE, *entries, shown=1)


def submit(demo_folder: Demo) -> None:
    """Prepare, show, approve and send the submissions; each step is safe to repeat."""
    demo_folder.agent("submission", "prepare", "--suite", SUITE)
    drafts = _list_drafts(demo_folder)
    for digest in drafts[:1]:
        demo_folder.agent("submission", "show", "--digest", digest)
        click.echo(
            f"({len(drafts) - 1} more like it; at a real site the steward reads each of them)"
        )
    approve_and_send(demo_folder)
    demo_folder.agent("submission", "status")


def approve_and_send(demo_folder: Demo) -> None:
    """Approve every draft with the steward's key, and send them."""
    for digest in _list_drafts(demo_folder):
        demo_folder.agent(
            "submission",
            "approve",
            "--key",
            demo_folder.steward_key,
            "--digest",
            digest,
            "--yes",
            shown=1,
        )
    demo_folder.agent("submission", "send")


def publish(demo_folder: Demo) -> None:
    """Publish the board, and verify it as the public can."""
    demo_folder.central("publish", "--out", demo_folder.board)
    demo_folder.central("verify", "--board", demo_folder.board)


def _list_drafts(demo_folder: Demo) -> list[str]:
    return [
        str(row["digest"])[:8]
        for row in _list_submissions(demo_folder)
        if row["state"] == "prepared"
    ]


def _list_submissions(demo_folder: Demo) -> list[dict[str, object]]:
    status = demo_folder.agent("submission", "status", "--format", "json", shown=False)
    rows: list[dict[str, object]] = json.loads(status)
    return rows


def _update_registry(demo_folder: Demo) -> str:
    if not (demo_folder.site / "submissions" / "membership.json").exists():
        return ""
    return demo_folder.agent("registry", "update")
