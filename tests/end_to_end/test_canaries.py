"""Strings planted in notes, questions, gold, answers, ids, file names and judges' replies reach nothing outside."""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.site import Site
from tests.agent.fault_server import Action, Asked, FaultServer, Message, Status
from tests.end_to_end.conftest import ROOT

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
    return {raw, raw.lower(), raw.hex().encode(), raw.replace(b" ", b"%20"), raw.replace(b" ", b"_"), *aligned}


def canaries_in(data: bytes) -> list[str]:
    return [name for name, text in CANARIES.items() if any(spelling in data for spelling in spellings(text))]


def test_the_search_finds_what_it_looks_for():
    for name, text in CANARIES.items():
        assert canaries_in(b"..." + text.encode() + b"...") == [name]
        assert name in canaries_in(base64.b64encode(b"some {text} " + text.encode() + b" more of it"))


@contextmanager
def recording(port: int) -> Iterator[tuple[int, bytearray]]:
    """Pass connections on to `port` and keep every byte that the client sent."""
    sent, listener = bytearray(), socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket, keep: bool) -> None:
        while data := source.recv(65_536):
            if keep:
                sent.extend(data)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, False), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1], sent
    listener.close()


class Whole:
    """A site with a private benchmark full of canaries, and an aggregator; every output is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site, self.central = folder, folder / "site", folder / "aggregator"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.outputs: list[bytes] = []

    def run(self, module: str, *words: str | Path, code: int = 0) -> str:
        environment = {**os.environ, "TMPDIR": str(self.temporary), "HOME": str(self.temporary)}
        command = [sys.executable, "-m", module, *map(str, words)]
        done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment, check=False, timeout=120)
        self.outputs += [done.stdout, done.stderr]
        assert done.returncode == code, done.stderr.decode()
        return done.stdout.decode()

    def agent(self, *words: str | Path, code: int = 0) -> str:
        return self.run("agent", "--site", self.site, "--log-level", "debug", *words, code=code)

    def aggregator(self, *words: str | Path) -> str:
        return self.run("aggregator", "--dir", self.central, *words)

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
            seats.append(f"  - {{name: {JUDGE_NAME} {one}, model: test/{one}, model_deployment: local/{one}}}")
        deployments.write_text("\n".join(entries) + "\n")
        judges.write_text("\n".join(seats) + "\n")
        with settings.open("a") as file:
            file.write(f"allowed_hosts: [127.0.0.1, {CANARIES['judge host']}]\n")
        return [deployments, judges, settings]


def fault(asked: Asked) -> Action | None:
    if CANARIES["note"] not in asked.prompt:
        return None
    number = int(asked.prompt.split("cough ")[1].split(".")[0])
    if number % 10 == 7:
        return Status(500, body=json.dumps({"error": CANARIES["server"] + asked.prompt}).encode())
    text = CANARIES["gold"] if number % 2 else CANARIES["answer"]
    return Message({"role": "assistant", "content": text, "reasoning_content": CANARIES["thought"]})


def judging(asked: Asked) -> Action | None:
    """Half of the first replies are no verdict; now and then the server fails and quotes what it was sent."""
    if CANARIES["note"] not in asked.prompt:
        return None
    number = int(asked.prompt.split("cough ")[1].split(".")[0])
    said = {"role": "assistant", "reasoning_content": f"{CANARIES['weighing']}: {CANARIES['note']}"}
    if number % 10 == 4:
        return Status(500, body=json.dumps({"error": CANARIES["server"] + asked.prompt}).encode())
    if number % 2 and CANARIES["reply"] not in asked.prompt:
        return Message(said | {"content": f"{CANARIES['reply']}, for {CANARIES['note']}"})
    words = CANARIES["repair" if number % 2 else "verdict"] + f" \\u0022{CANARIES['answer']}\\u0022"
    grades = ", ".join(f'"{name}": {{"explanation": "{words}", "score": 4}}' for name in ("right", "plain"))
    return Message(said | {"content": f"{{{grades}}}"})


@pytest.mark.timeout(240)
def test_nothing_that_leaves_or_is_logged_holds_text_of_a_case(tmp_path: Path):
    whole = Whole(tmp_path)
    whole.agent("init", whole.site, "--site-name", "Canary Hospital")
    planted = whole.plant()
    with (whole.site / "site.yaml").open("a") as file:
        file.write("max_attempts: 1\n")
    with (
        FaultServer(models=["test/model"], fault=fault) as server,
        FaultServer(models=["one", "two"], fault=judging, host=CANARIES["judge host"]) as bench,
    ):
        configured = whole.seat(bench.url)
        words = ["run", "--server", server.url, "--run-entries", "own:model=test/model", "--suite", "s"]
        whole.agent(*words, code=9)
        assert "not_judged" in whole.agent("summarize", "--suite", "s", "--all-metrics", "--format", "json")
        whole.agent("judge", "--suite", "s", code=9)
    whole.agent("judge", "--suite", "s", code=4)  # the judges are down by now
    whole.agent("rescore", "--suite", "s")
    whole.agent("agreement", "--suite", "s")
    whole.agent("summarize", "--suite", "s")
    whole.agent("benchmarks", "list")
    whole.agent("doctor", code=4)

    whole.agent("benchmarks", "scorecard", "own", "--name", "card", "--out", tmp_path / "card.json")
    (tmp_path / "models.yaml").write_text("- name: test/model\n  display_name: Test\n")
    whole.aggregator(
        "init", "--origin", "b.example", "--scorecard", tmp_path / "card.json", "--models", tmp_path / "models.yaml"
    )
    whole.aggregator("invite", "--site-name", "A", "--publication", "named", "--out", tmp_path / "invite.json")
    whole.agent("steward-key", "--out", tmp_path / "steward.key")
    serving = subprocess.Popen(
        [sys.executable, "-m", "aggregator", "--dir", str(whole.central), "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "serve.log").open("wb"),
        text=True,
        cwd=ROOT,
    )
    try:
        assert serving.stdout
        port = int(serving.stdout.readline().rsplit(":", 1)[1])
        with recording(port) as (recorded, sent):
            with (whole.site / "site.yaml").open("a") as file:
                file.write(f"aggregator_url: http://127.0.0.1:{recorded}\n")
            whole.agent("enroll", "--invite", tmp_path / "invite.json", "--steward-key", tmp_path / "steward.key")
            whole.aggregator("enroll", "--pending", "--fingerprint-checked")
            whole.agent("registry", "update")
            whole.agent("submission", "prepare", "--suite", "s")
            whole.agent("submission", "show")
            (row,) = json.loads(whole.agent("submission", "status", "--format", "json"))
            whole.agent(
                "submission", "approve", "--key", tmp_path / "steward.key", "--digest", row["digest"], "--yes"
            )  # fmt: skip
            whole.agent("submission", "send")
            (row,) = json.loads(whole.agent("submission", "status", "--format", "json"))
            assert row["state"] == "receipted"
    finally:
        serving.kill()
        serving.wait()
    whole.aggregator("publish", "--out", tmp_path / "board")
    whole.agent("audit")

    assert b"POST /v1/submissions" in sent
    assert canaries_in(bytes(sent)) == []
    left = [path.read_bytes() for folder in (whole.central, tmp_path / "board") for path in folder.rglob("*.*")]
    assert [data for data in [sent, *left] if JUDGE_NAME.encode() in data] == []
    assert [found for output in whole.outputs if (found := canaries_in(output))] == []
    searched = [path for path in tmp_path.rglob("*") if path.is_file() and planted not in path.parents]
    assert {path.name: canaries_in(path.read_bytes()) for path in configured} == {
        "model_deployments.yaml": ["judge host"], "judges.yaml": [], "site.yaml": ["judge host"],
    }  # fmt: skip
    searched = [path for path in searched if path not in configured]
    assert any(path.name.startswith("site.sqlite3") for path in searched)
    assert any(path.name == "index.html" for path in searched)
    assert {str(p): found for p in searched if (found := canaries_in(p.read_bytes() + str(p).encode()))} == {}
    # What went to the inference server is the only thing that holds them: the search is not blind.
    assert canaries_in("\n".join(server.prompts).encode()) == ["note", "question"]
    shown = ["note", "question", "gold", "answer", "reply"]
    assert canaries_in("\n".join(bench.prompts).encode()) == shown
    with Site(whole.site).store() as store:
        (run,) = store.runs("s")
        judgements = [kept for of in store.every_seat(run.run_id, range(UNITS)).values() for _, _, kept in of]
    kept = "\n".join(reply.text + reply.reasoning for one in judgements for reply in one.replies)
    assert canaries_in(kept.encode()) == ["note", "answer", "reply", "repair", "verdict", "weighing"]


PERSON, RECORD = "Xochitl Wrzesniewski", "99120441"


@pytest.mark.timeout(120)
def test_no_file_that_is_handed_around_names_a_patient_a_judge_or_its_host(tmp_path: Path):
    """Names spelt as JSON may spell them, in first replies, repairs, thoughts and explanations."""
    whole = Whole(tmp_path)
    whole.agent("init", whole.site, "--site-name", "x")
    data = whole.plant() / f"{CANARIES['file']}.csv"
    lines = data.read_text().replace(CANARIES["note"], f"Patient name: {PERSON}; MRN: {RECORD};").splitlines()
    data.write_text("\n".join(lines[:7]) + "\n")

    def babble(asked: Asked) -> Action | None:
        if PERSON not in asked.prompt:
            return None
        spelt = r"Xochitl\nWrzesniewski, \u0057rzesniewski, MRN: 99120441"
        words = f'{{"explanation": "{spelt}", "score": 4, "mrn": 99120441}}'
        text = f'{{"right": {words}, "plain": {words}}}' if "three" not in asked.prompt else spelt
        first = "cough 1" in asked.prompt and "brazen" not in asked.prompt
        said = {"role": "assistant", "content": f"brazen {spelt}" if first else text, "reasoning_content": spelt}
        return Message(said)

    with (
        FaultServer(models=["test/model"], fault=lambda a: Message({"role": "assistant", "content": f"It is {PERSON}"})
                    if PERSON in a.prompt else None) as server,
        FaultServer(models=["one", "two"], fault=babble, host=CANARIES["judge host"]) as bench,
    ):  # fmt: skip
        whole.seat(bench.url)
        whole.agent("run", "--server", server.url, "--run-entries", "own:model=test/model", "--suite", "s")
    for form in ("jsonl", "csv", "helm"):
        whole.agent("export", "--suite", "s", "--format", form, "--out", tmp_path / "out" / form)
    whole.agent("view", "--export", tmp_path / "out" / "pages")
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    planted = {PERSON, "Wrzesniewski", "rzesniewski", "Xochitl", RECORD, JUDGE_NAME, CANARIES["judge host"]}
    found = {path.name: word for path, content in files.items() for word in planted if word.encode() in content}
    assert found == {}
    for kind in ("instances.jsonl", "instances.csv", "scenario_state.json", "instances-1.html", "instances-1.json"):
        (content,) = [content for path, content in files.items() if path.name == kind]
        assert b"[NAME-1]" in content
        assert b"judge_" in content  # the label of a judge whose name is free text
    output = b"".join(whole.outputs)
    assert [word for word in planted - {JUDGE_NAME} if word.encode() in output] == []


def test_an_unexpected_error_shows_where_and_never_what(tmp_path: Path):
    script = (
        "import sys, agent.evaluation.plan as plan\n"
        f"def boom(*a, **k): raise KeyError({CANARIES['note']!r})\n"
        "plan.survey_benchmarks = boom\n"
        "from agent.cli import main\n"
        f"sys.argv = ['intramural', '--site', {str(tmp_path / 'site')!r}, 'run', '-r', 'own:model=a/b']\n"
        "main()\n"
    )
    made = subprocess.run(
        [sys.executable, "-m", "agent", "init", str(tmp_path / "site"), "--site-name", "x"], check=True, cwd=ROOT
    )
    assert made.returncode == 0
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 1
    assert b"unexpected error: KeyError" in done.stderr
    assert b"plan.py" in done.stderr
    assert canaries_in(done.stdout + done.stderr) == []


@pytest.mark.parametrize("fault_kind", ["duplicate-id", "short-row", "open-quote", "empty-gold", "no-header"])
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
