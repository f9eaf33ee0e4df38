"""Makes small files of every kind that version 56f8cdc writes, so that later versions can be tried on them.

    git worktree add ../version-56f8cdc 56f8cdc
    cd ../version-56f8cdc
    PYTHON /path/to/tests/data/versions/56f8cdc/make_fixtures.py

The version in the working directory runs; PYTHON is one that has its dependencies. What is made is written beside this
file and must not be there yet. Keys are drawn anew and the day is today's, so no two makings are the same.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

COMMIT = "56f8cdc"
HERE = Path(__file__).resolve().parent
SITE, AGGREGATOR, BOARD, HELM = HERE / "site", HERE / "aggregator", HERE / "board", HERE / "helm"
STEWARD_KEY = HERE / "steward" / "steward.key"
INVITE, REQUEST, SIGNED = HERE / "invite.json", HERE / "request.json", HERE / "signed.json"
MADE = (SITE, AGGREGATOR, BOARD, HELM, STEWARD_KEY.parent, INVITE, REQUEST, SIGNED)

BENCHMARKS = ("pubmed_qa", "race_based_med")
INSTANCES = 6
SENT, DRAFTED = "baseline/first-choice", "baseline/random"
MODELS = (SENT, DRAFTED)
SUITE = "fixtures"


def main() -> None:
    """Make all of them."""
    check_version()
    check_nothing_is_replaced()
    make_site()
    make_aggregator()
    run_benchmarks()
    export_to_helm()
    with serving("aggregator", "--dir", AGGREGATOR, "serve", "--port", "0") as line:
        join(line.split()[-1])
        send_one_submission()
    draft_another_submission()
    publish_board()
    fold_in_journals()


def check_version() -> None:
    """Refuse to run any other version than the one that the folder is named after."""
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    changed = subprocess.check_output(
        ["git", "status", "--porcelain", "--untracked-files=no"], text=True
    )
    if not head.startswith(COMMIT) or changed:
        sys.exit(f"the working directory is no unchanged checkout of {COMMIT}")
    for package in ("agent", "aggregator", "protocol"):
        script = f"import {package}; print({package}.__file__)"
        found = Path(subprocess.check_output([sys.executable, "-c", script], text=True).strip())
        if not found.is_relative_to(Path.cwd()):
            sys.exit(f"{package} is taken from elsewhere than the working directory")


def check_nothing_is_replaced() -> None:
    """Refuse to write into what an earlier making left."""
    if there := [path.name for path in MADE if path.exists()]:
        sys.exit(f"already there: {', '.join(there)}")


def make_site() -> None:
    """Make a site, and a steward's key beside it."""
    agent("init", SITE, "--site-name", "Invented Hospital")
    STEWARD_KEY.parent.mkdir(mode=0o700)
    agent("steward-key", "--out", STEWARD_KEY)


def make_aggregator() -> None:
    """Make an aggregator that knows the two benchmarks and the two baselines."""
    with TemporaryDirectory() as folder:
        scorecard, models = Path(folder, "scorecard.json"), Path(folder, "models.yaml")
        agent(
            "benchmarks", "scorecard", *BENCHMARKS, "--name", "fixtures-public", "--out", scorecard
        )
        rows = (
            f"- {{name: {name}, display_name: {name}, organization: Intramural, is_language_model: false}}\n"
            for name in MODELS
        )
        models.write_text("".join(rows), "utf-8")
        names = ["--origin", "board.fixtures.example", "--name", "Fixtures board"]
        central("init", *names, "--scorecard", scorecard, "--models", models)
    # The registry that enrolment signs is good for ten years, so that tests of these files do not fail one day.
    with (AGGREGATOR / "aggregator.yaml").open("a", encoding="utf-8") as settings:
        settings.write("registry_days: 3660\n")


def run_benchmarks() -> None:
    """Run both benchmarks for both baselines."""
    entries = [f"{benchmark}:model={model}" for benchmark in BENCHMARKS for model in MODELS]
    with serving("agent", "baselines", "serve", "--port", "0") as url:
        lines = ["model_deployments:"]
        for model in MODELS:
            lines += [f"  - name: {model}", f"    model_name: {model}", "    client_spec:"]
            lines += ["      class_name: helm.clients.vllm_client.VLLMChatClient"]
            lines += [f"      args: {{base_url: '{url}', vllm_model_name: {model}}}"]
        (SITE / "model_deployments.yaml").write_text("\n".join(lines) + "\n", "utf-8")
        at_site(
            "run",
            "--suite",
            SUITE,
            "--max-eval-instances",
            str(INSTANCES),
            "--run-entries",
            *entries,
            "--quiet",
        )


def export_to_helm() -> None:
    """Export the suite in HELM's form."""
    at_site("export", "--suite", SUITE, "--format", "helm", "--output", HELM)


def join(url: str) -> None:
    """Enrol the site with the aggregator at this address, by the way that leaves a request and a signed request."""
    with (SITE / "site.yaml").open("a", encoding="utf-8") as settings:
        settings.write(f"aggregator_url: {url}\n")
    central("invite", "--site-name", "Invented Hospital", "--publication", "named", "--out", INVITE)
    at_site(
        "enroll", "--invite", INVITE, "--steward-public", f"{STEWARD_KEY}.pub", "--out", REQUEST
    )
    agent("enroll", "--request", REQUEST, "--steward-key", STEWARD_KEY, "--out", SIGNED)
    at_site("enroll", "--invite", INVITE, "--request", SIGNED)
    central("enroll", "--pending", "--fingerprint-checked")
    at_site("registry", "update")


def send_one_submission() -> None:
    """Prepare, approve and send the figures of one model; its receipt is verified and kept."""
    at_site("submission", "prepare", "--suite", SUITE, "--model", SENT)
    (draft,) = (SITE / "submissions").glob("*.verdicts.json")
    digest = draft.name.split(".")[0]
    at_site("submission", "approve", "--key", STEWARD_KEY, "--digest", digest, "--yes")
    at_site("submission", "send")


def draft_another_submission() -> None:
    """Prepare the figures of the other model, and leave it at that."""
    at_site("submission", "prepare", "--suite", SUITE, "--model", DRAFTED)
    at_site("submission", "status")


def publish_board() -> None:
    """Publish the board and verify it."""
    central("publish", "--out", BOARD)
    run("aggregator", "verify", "--board", BOARD)


def fold_in_journals() -> None:
    """Leave each database as one file, without a journal beside it."""
    for path in (SITE / "store" / "site.sqlite3", AGGREGATOR / "aggregator.sqlite3"):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if left := [*HERE.rglob("*-wal"), *HERE.rglob("*-shm"), *HERE.rglob("*-journal")]:
        sys.exit(f"journals were left: {left}")


def agent(*words: str | Path) -> None:
    """Run `intramural WORDS`."""
    run("agent", *words)


def at_site(*words: str | Path) -> None:
    """Run `intramural --site SITE WORDS`."""
    run("agent", "--site", SITE, *words)


def central(*words: str | Path) -> None:
    """Run `intramural-aggregator --dir DIR WORDS`."""
    run("aggregator", "--dir", AGGREGATOR, *words)


def run(program: str, *words: str | Path) -> None:
    """Run a program of this version and stop everything if it fails."""
    command = [sys.executable, "-m", program, *map(str, words)]
    print("$", *command[2:], flush=True)
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)


@contextmanager
def serving(program: str, *words: str | Path) -> Iterator[str]:
    """Serve in the background; yield the first line printed, which ends with the address."""
    command = [sys.executable, "-m", program, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if not line:
            sys.exit(f"{program} {words[-1]} did not start")
        yield line
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    main()
