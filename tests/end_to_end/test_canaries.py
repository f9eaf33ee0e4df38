"""Strings planted in notes and replies reach no file that is handed around, and no message of a failure.

A whole life with a thousand of them is in test_thousand_canaries.py.
"""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.fault_server import Action, Asked, FaultServer, Message
from tests.forked import ROOT, run_command

CANARIES = {
    "note": "Zephyrine Quackenbush",
    "question": "oxblood-harpsichord",
    "gold": "Yes-marzipan-4471",
    "answer": "vermilion-octopus",
    "thought": "saffron-zeppelin",
    "unit": "MRN-99120-jabberwock",
    "id": "row-of-mephistopheles",
    "file": "ward_Oberhuberova_2024",
    "server": "backtrace-of-gargantua",
    "reply": "brazen-hippogriff",  # a judge's first reply
    "repair": "cobalt-basilisk",  # what it explains in its second
    "verdict": "umber-leviathan",  # what it explains at once
    "weighing": "maroon-sphinx",  # what it thinks before
    "judge host": "127.7.31.7",
}
JUDGE_NAME = "Ombudsman of Xanadu"  # a site's own word, which the site keeps in plain
UNITS = 40


def spellings(text: str) -> set[bytes]:
    raw = text.encode()
    # A base64 of the text inside something longer holds one of three alignments of it.
    aligned = {base64.b64encode(b"x" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)}
    return {
        raw,
        raw.lower(),
        raw.hex().encode(),
        raw.replace(b" ", b"%20"),
        raw.replace(b" ", b"_"),
        *aligned,
    }


def canaries_in(data: bytes) -> list[str]:
    return [
        name
        for name, text in CANARIES.items()
        if any(spelling in data for spelling in spellings(text))
    ]


def test_the_search_finds_what_it_looks_for():
    for name, text in CANARIES.items():
        assert canaries_in(b"..." + text.encode() + b"...") == [name]
        assert name in canaries_in(
            base64.b64encode(b"some {text} " + text.encode() + b" more of it")
        )


class Whole:
    """A site with a private benchmark full of canaries; every output is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder, folder / "site"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.outputs: list[bytes] = []

    def run(self, module: str, *words: str | Path, code: int = 0) -> str:
        environment = {**os.environ, "TMPDIR": str(self.temporary), "HOME": str(self.temporary)}
        done = run_command(module, *words, environment=environment)
        self.outputs += [done.stdout.encode(), done.stderr.encode()]
        assert done.returncode == code, done.stderr
        return done.stdout

    def agent(self, *words: str | Path, code: int = 0) -> str:
        return self.run("agent", "--site", self.site, "--log-level", "debug", *words, code=code)

    def plant(self) -> Path:
        folder = self.site / "benchmarks" / "own"
        folder.mkdir()
        lines = ["key,patient,note,question,correct_answer"]
        lines += [
            f"{CANARIES['id']}-{i},{CANARIES['unit']}-{i},{CANARIES['note']} had a cough {i}.,{CANARIES['question']}?,"
            f"{CANARIES['gold']}"
            for i in range(UNITS)
        ]
        (folder / f"{CANARIES['file']}.csv").write_text("\n".join(lines) + "\n")
        (folder / "prompt.txt").write_text("{note}\n{question}")
        (folder / "benchmark.yaml").write_text(
            f"name: own\ndescription: invented\naccess: private\nunit_column: patient\nid_column: key\n"
            f"prompt_file: prompt.txt\ndataset_file: {CANARIES['file']}.csv\nmetrics:\n  - name: exact_match\n"
            "  - name: jury_score\n    criteria: {right: Is it right?, plain: Is it plain?}\n"
        )
        return folder

    def seat(self, url: str) -> list[Path]:
        """Name a jury of two that is served at `url`; return the files that may say so."""
        deployments, judges, settings = (
            self.site / name for name in ("model_deployments.yaml", "judges.yaml", "site.yaml")
        )
        entries, seats = ["model_deployments:"], ["judges:"]
        for one in ("one", "two"):
            entries += [f"  - name: local/{one}", f"    model_name: test/{one}", "    client_spec:"]
            entries += [
                "      class_name: VLLMChatClient",
                f"      args: {{base_url: '{url}', vllm_model_name: {one}}}",
            ]
            seats.append(
                f"  - {{name: {JUDGE_NAME} {one}, model: test/{one}, model_deployment: local/{one}}}"
            )
        deployments.write_text("\n".join(entries) + "\n")
        judges.write_text("\n".join(seats) + "\n")
        with settings.open("a") as file:
            file.write(f"allowed_hosts: [127.0.0.1, {CANARIES['judge host']}]\n")
        return [deployments, judges, settings]


PERSON, RECORD = "Xochitl Wrzesniewski", "99120441"


@pytest.mark.timeout(120)
def test_no_file_that_is_handed_around_names_a_patient_a_judge_or_its_host(tmp_path: Path):
    """Names spelt as JSON may spell them, in first replies, repairs, thoughts and explanations."""
    whole = Whole(tmp_path)
    whole.agent("init", whole.site, "--site-name", "x")
    data = whole.plant() / f"{CANARIES['file']}.csv"
    lines = (
        data.read_text()
        .replace(CANARIES["note"], f"Patient name: {PERSON}; MRN: {RECORD};")
        .splitlines()
    )
    data.write_text("\n".join(lines[:7]) + "\n")

    def babble(asked: Asked) -> Action | None:
        if PERSON not in asked.prompt:
            return None
        spelt = r"Xochitl\nWrzesniewski, \u0057rzesniewski, MRN: 99120441"
        words = f'{{"explanation": "{spelt}", "score": 4, "mrn": 99120441}}'
        text = f'{{"right": {words}, "plain": {words}}}' if "three" not in asked.prompt else spelt
        first = "cough 1" in asked.prompt and "brazen" not in asked.prompt
        said = {
            "role": "assistant",
            "content": f"brazen {spelt}" if first else text,
            "reasoning_content": spelt,
        }
        return Message(said)

    with (
        FaultServer(models=["test/model"], fault=lambda a: Message({"role": "assistant", "content": f"It is {PERSON}"})
                    if PERSON in a.prompt else None) as server,
        FaultServer(models=["one", "two"], fault=babble, host=CANARIES["judge host"]) as bench,
    ):  # fmt: skip
        whole.seat(bench.url)
        whole.agent(
            "run", "--server", server.url, "--run-entries", "own:model=test/model", "--suite", "s"
        )
    for form in ("jsonl", "csv", "helm"):
        whole.agent("export", "--suite", "s", "--format", form, "--out", tmp_path / "out" / form)
    whole.agent("view", "--export", tmp_path / "out" / "pages")
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    planted = {
        PERSON,
        "Wrzesniewski",
        "rzesniewski",
        "Xochitl",
        RECORD,
        JUDGE_NAME,
        CANARIES["judge host"],
    }
    found = {
        path.name: word
        for path, content in files.items()
        for word in planted
        if word.encode() in content
    }
    assert found == {}
    for kind in (
        "instances.jsonl",
        "instances.csv",
        "scenario_state.json",
        "instances-1.html",
        "instances-1.json",
    ):
        (content,) = [content for path, content in files.items() if path.name == kind]
        assert b"[NAME-1]" in content
        assert b"judge_" in content  # the label of a judge whose name is free text
    output = b"".join(whole.outputs)
    assert [word for word in planted - {JUDGE_NAME} if word.encode() in output] == []


def test_an_unexpected_error_shows_where_and_never_what(tmp_path: Path):
    script = (
        "import sys, agent.runs.plan as plan\n"
        f"def boom(*a, **k): raise KeyError({CANARIES['note']!r})\n"
        "plan.survey_benchmarks = boom\n"
        "from agent.cli.main import main\n"
        f"sys.argv = ['intramural', '--site', {str(tmp_path / 'site')!r}, 'run', '-r', 'own:model=a/b']\n"
        "main()\n"
    )
    made = subprocess.run(
        [sys.executable, "-m", "agent", "init", str(tmp_path / "site"), "--site-name", "x"],
        check=True,
        cwd=ROOT,
    )
    assert made.returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == 1
    assert b"unexpected error: KeyError" in done.stderr
    assert b"plan.py" in done.stderr
    assert canaries_in(done.stdout + done.stderr) == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "fault_kind", ["duplicate-id", "short-row", "open-quote", "empty-gold", "no-header"]
)
def test_a_wrong_dataset_is_named_by_row_and_never_quoted(tmp_path: Path, fault_kind: str):
    whole = Whole(tmp_path)
    whole.agent("init", whole.site, "--site-name", "x")
    path = whole.plant() / f"{CANARIES['file']}.csv"
    lines = path.read_text().splitlines()
    match fault_kind:
        case "duplicate-id":
            lines[5] = lines[4]
        case "short-row":
            lines[5] = lines[5].rsplit(",", 2)[0]
        case "open-quote":
            lines[5] = '"' + lines[5]
        case "empty-gold":
            lines[5] = lines[5].rsplit(",", 1)[0] + ","
        case "no-header":
            lines = lines[1:]
    path.write_text("\n".join(lines) + "\n")
    with FaultServer(models=["test/model"]) as server:
        whole.agent("run", "--server", server.url, "-r", "own:model=test/model", code=3)
        assert server.prompts == []
    message = whole.outputs[-1].decode()
    assert canaries_in(message.encode()) in ([], ["file"])
    if fault_kind != "no-header":
        assert "row" in message
