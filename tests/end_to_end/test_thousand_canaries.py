"""A thousand strings are planted wherever a hospital's text can lie; none is found in anything that left or was logged.

Two kinds are told apart. Text of cases, and what may quote it (answers, judges' replies, errors, signatures, the
environment), appears nowhere but in the encrypted store. A site's own words (its name, its benchmarks, its servers, its
files) stand in its settings and on its screens, and never in what leaves.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.fault_server import Action, Asked, FaultServer, Message, Status
from tests.canaries import Canaries, Finder
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.life import Life
from tests.end_to_end.wire import Front

pytestmark = (
    pytest.mark.full
)  # a minute and more; test_canaries.py plants fewer, in `make test` too

IN_ALL = 1000
ROWS = 60
MORE = 43  # words more in notes, so that there are a thousand
FAILING = 30  # so many questions, and one is answered with an error that quotes it
MODEL = "test/model"
JUDGE_ADDRESS = "127.77.131.107"

# Text of cases and what may quote it.
CASE = (
    "note", "ward", "question", "gold", "answer", "thought", "patient id", "record id", "explanation", "weighing",
    "first reply", "server error", "aggregator error", "environment name", "environment value", "exception", "token",
    "signature", "more of a note",
)  # fmt: skip
# A site's own words.
OWN = (
    "site name", "benchmark", "benchmark file", "column", "criterion", "prompt file", "suite", "deployment",
    "served model", "judge", "host", "token file", "steward's file", "server's own words", "setting",
)  # fmt: skip


@dataclass
class Case:
    """One row of the private benchmark, and what is answered and said about it."""

    note: str
    question: str
    gold: str
    answer: str
    thought: str
    patient: str
    record: str
    explanations: tuple[str, str]
    weighing: str
    first_reply: str
    error: str


@dataclass
class Hospital:
    """A site full of canaries, with its servers, its steward and an aggregator."""

    life: Life
    canaries: Canaries
    cases: list[Case] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    criteria: tuple[str, str] = ("", "")
    suite: str = ""
    served: dict[str, str] = field(default_factory=dict)
    deployments: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def planted(self) -> list[Path]:
        """The files in which a site's own people wrote canaries."""
        site = self.life.site
        names = ("site.yaml", "model_deployments.yaml", "judges.yaml")
        tokens = sorted((site / "keys").glob("*.token"))
        return [
            *(site / name for name in names),
            *tokens,
            *sorted((site / "benchmarks").rglob("*")),
        ]

    def answer(self, asked: Asked) -> Action | None:
        """Answer as the model under test: now right, now wrong, now with an error that quotes the prompt."""
        case = self.case_of(asked)
        if case is None:
            return None
        number = self.cases.index(case)
        if number % FAILING == 7:
            return Status(500, body=json.dumps({"error": case.error + asked.prompt}).encode())
        text = case.gold if number % 2 else case.answer
        return Message({"role": "assistant", "content": text, "reasoning_content": case.thought})

    def judge(self, asked: Asked) -> Action | None:
        """Judge: half of the first replies are no verdict, and some requests fail with an error that quotes them."""
        case = self.case_of(asked)
        if case is None:
            return None
        number = self.cases.index(case)
        said = {"role": "assistant", "reasoning_content": f"{case.weighing}: {case.note}"}
        if number % FAILING == 4:
            return Status(500, body=json.dumps({"error": case.error + asked.prompt}).encode())
        if number % 2 and case.first_reply not in asked.prompt:
            return Message(said | {"content": f"{case.first_reply}, for {case.note}"})
        grades = {
            name: {"explanation": f"{words} of {case.patient}", "score": 4}
            for name, words in zip(self.criteria, case.explanations, strict=True)
        }
        return Message(said | {"content": json.dumps(grades)})

    def case_of(self, asked: Asked) -> Case | None:
        """Return the case that a prompt is about."""
        match = re.search(r"case number (\d+)\.", asked.prompt)
        return self.cases[int(match[1])] if match else None


def draw_cases(canaries: Canaries) -> list[Case]:
    more = canaries.draw("more of a note", MORE)
    names, wards = canaries.draw_phrases("note", 2 * ROWS), canaries.draw("ward", ROWS)
    drawn = {
        carrier: canaries.draw(carrier, ROWS)
        for carrier in (
            "question",
            "gold",
            "answer",
            "thought",
            "patient id",
            "record id",
            "weighing",
        )
    }
    explanations, replies = (
        canaries.draw("explanation", 2 * ROWS),
        canaries.draw("first reply", ROWS // 2),
    )
    errors = canaries.draw("server error", ROWS // 5)
    return [
        Case(
            note=f"{names[2 * i]} was seen by {names[2 * i + 1]} on ward {wards[i]}, case number {i}."
            f" {' '.join(more[i::ROWS])}",
            question=f"What of {drawn['question'][i]}?",
            gold=drawn["gold"][i],
            answer=drawn["answer"][i],
            thought=drawn["thought"][i],
            patient=drawn["patient id"][i],
            record=drawn["record id"][i],
            explanations=(explanations[2 * i], explanations[2 * i + 1]),
            weighing=drawn["weighing"][i],
            first_reply=replies[i // 2],
            error=errors[i * len(errors) // ROWS],
        )
        for i in range(ROWS)
    ]


def plant(hospital: Hospital, urls: Mapping[str, str]) -> None:
    """Write the hospital's data, benchmarks, servers, judges and settings."""
    canaries, site = hospital.canaries, hospital.life.site
    hospital.columns = {
        name: canaries.draw_one("column")
        for name in ("note", "question", "answer", "patient", "record")
    }
    first, second = canaries.draw("criterion", 2)
    hospital.criteria = (first, second)
    hospital.suite = canaries.draw_one("suite")
    # One benchmark that the scorecard names, under a name that may be told; one whose very name is the hospital's.
    for name in ("own", canaries.draw_one("benchmark")):
        write_benchmark(hospital, site / "benchmarks" / name)
    roles = ("model", "one", "two")
    hospital.deployments = {role: canaries.draw_one("deployment") for role in roles}
    hospital.tokens = {role: canaries.draw_one("token") for role in roles}
    entries, seats = ["model_deployments:"], ["judges:"]
    for role in roles:
        token_file = site / "keys" / f"{canaries.draw_one('token file')}.token"
        token_file.write_text(hospital.tokens[role] + "\n")
        token_file.chmod(0o600)
        name = MODEL if role == "model" else f"test/{role}"
        entries += [f"  - name: local/{hospital.deployments[role]}", f"    model_name: {name}"]
        entries += [f"    token_file: {token_file}", "    client_spec:"]
        entries += [
            "      class_name: VLLMChatClient",
            "      args:",
            f"        base_url: '{urls[role]}'",
        ]
        entries += [f"        vllm_model_name: {hospital.served[role]}"]
        if role != "model":
            deployment = f"local/{hospital.deployments[role]}"
            seats.append(
                f"  - {{name: {canaries.draw_one('judge')}, model: {name}, model_deployment: {deployment}}}"
            )
    (site / "model_deployments.yaml").write_text("\n".join(entries) + "\n")
    (site / "judges.yaml").write_text("\n".join(seats) + "\n")
    hosts = ["127.0.0.1", JUDGE_ADDRESS, *(f"{name}.example" for name in canaries.draw("host", 4))]
    with (site / "site.yaml").open("a") as file:
        file.write(f"max_attempts: 1\nallowed_hosts: {json.dumps(hosts)}\n")
        file.write(f"# {canaries.draw_one('setting')}\n")


def write_benchmark(hospital: Hospital, folder: Path) -> None:
    canaries, columns = hospital.canaries, hospital.columns
    folder.mkdir()
    lines = [
        ",".join(
            [
                columns["record"],
                columns["patient"],
                "note",
                "question",
                "correct_answer",
                columns["note"],
            ]
        )
    ]
    lines += [
        f'{case.record},{case.patient},"{case.note}",{case.question},{case.gold},unused'
        for case in hospital.cases
    ]
    data, prompt = (
        canaries.draw_one("benchmark file") + ".csv",
        canaries.draw_one("prompt file") + ".txt",
    )
    (folder / data).write_text("\n".join(lines) + "\n")
    (folder / prompt).write_text("{note}\n{question}")
    first, second = hospital.criteria
    (folder / "benchmark.yaml").write_text(
        f"name: {folder.name}\ndescription: {canaries.draw_one('benchmark')}\naccess: private\n"
        f"unit_column: {columns['patient']}\nid_column: {columns['record']}\n"
        f"prompt_file: {prompt}\ndataset_file: {data}\nmetrics:\n  - name: exact_match\n"
        f"  - name: jury_score\n    criteria: {{{first}: Is it right?, {second}: Is it plain?}}\n"
    )


# Fails with a canary in the message where the second word says, and gives the command after it.
FAILING_COMMAND = """
import sys
from importlib import import_module
message, where = sys.argv[1], sys.argv[2]
module, owner, name = where.split(":")
def fail(*given, **more):
    raise KIND(message)
holder = import_module(module)
setattr(getattr(holder, owner) if owner else holder, name, fail)
sys.argv = ["program", *sys.argv[3:]]
import_module(PROGRAM).main()
"""
PLACES = {
    "agent.site.directory:Site:store": "KeyError",
    "sqlite3::connect": "__import__('sqlite3').OperationalError",
    "json::dumps": "TypeError",
    "httpx:AsyncClient:stream": "__import__('httpx').ReadError",
    "httpx:AsyncClient:send": "__import__('ssl').SSLError",
}


def fail_with_canaries(hospital: Hospital) -> None:
    """Have exceptions of every layer hold canaries, in commands of the site and of the aggregator."""
    life = hospital.life
    look = ["summarize", "--suite", hospital.suite, "--format", "json"]
    prepare, update = ["submission", "prepare", "--suite", hospital.suite], ["registry", "update"]
    list_sites, publish = (
        ["list", "sites", "--format", "json"],
        ["publish", "--out", life.folder / "nowhere"],
    )
    for place, words in (
        ("agent.site.directory:Site:store", look), ("agent.site.directory:Site:store", prepare),
        ("sqlite3::connect", look),
        ("sqlite3::connect", prepare), ("json::dumps", look), ("json::dumps", prepare),
        ("httpx:AsyncClient:stream", update), ("httpx:AsyncClient:send", update),
    ):  # fmt: skip
        fail_with_canary(hospital, "agent.cli.main", place, ["--site", life.site, *words])
    for place, words in (
        ("sqlite3::connect", list_sites),
        ("json::dumps", list_sites),
        ("json::dumps", publish),
    ):
        fail_with_canary(hospital, "aggregator.cli", place, ["--dir", life.central, *words])


def fail_with_canary(hospital: Hospital, program: str, place: str, words: list[str | Path]) -> None:
    script = FAILING_COMMAND.replace("KIND", PLACES[place]).replace("PROGRAM", repr(program))
    message = " ".join(hospital.canaries.draw("exception", 4))
    command = [sys.executable, "-c", script, message, place, *map(str, words)]
    environment = {**os.environ, **hospital.life.environment}
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=ROOT, env=environment, timeout=60
    )
    hospital.life.outputs += [done.stdout, done.stderr]
    assert b"Traceback" not in done.stderr, done.stderr.decode()


def forge_signatures(hospital: Hospital, front: Front) -> None:
    """Put canaries into the signature fields of what is approved: the site itself refuses to let it out."""
    life = hospital.life
    requests, words = (
        len(front.requests),
        [hospital.canaries.draw("signature", 4) for _ in range(2)],
    )
    (row,) = [row for row in life.rows() if row["state"] == "approved"]
    for path in (life.site / "submissions" / f"{row['digest']}.dsse.json",):
        genuine = path.read_bytes()
        for count in (1, 200):
            envelope = json.loads(genuine)
            text = " ".join(words[count > 1]).encode()
            for signature in envelope["signatures"]:
                signature["sig"] = base64.b64encode(
                    text.ljust(64)[:64] if count == 1 else text * count
                ).decode()
            path.write_bytes(json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode())
            out = life.folder / "forged"
            out.mkdir(exist_ok=True)
            assert life.try_agent("submission", "send") != 0
            assert life.try_agent("submission", "send", "--export", out) != 0
            assert list(out.iterdir()) == []
        path.write_bytes(genuine)
    assert len(front.requests) == requests


def forge_enrolment(hospital: Hospital, front: Front) -> None:
    """Put canaries into the signatures of the request to be enrolled: it does not leave either."""
    life = hospital.life
    genuine = json.loads((life.folder / "signed.json").read_bytes())
    for number in range(2):
        envelope = {
            **genuine,
            "signatures": [dict(signature) for signature in genuine["signatures"]],
        }
        words = " ".join(hospital.canaries.draw("signature", 2)).encode()
        envelope["signatures"][number]["sig"] = base64.b64encode(words.ljust(64)).decode()
        forged = life.folder / f"forged-{number}.json"
        forged.write_bytes(json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode())
        requests = len(front.requests)
        said = life.agent("enroll", "--invite", life.invite, "--request", forged, code=2)
        assert "the request is not valid (bad_signature); nothing was sent" in said
        assert len(front.requests) == requests


def answer_with_canaries(hospital: Hospital, front: Front) -> None:
    """Have the aggregator, or a proxy before it, answer with canaries: nothing of it is shown or kept."""
    for status, kind, body in (
        (200, "text/html", b"<html>%s</html>"),
        (409, "application/json", b'{"code": "%s"}'),
        (422, "application/json", b'{"code": "fork", "refusal": "%s"}'),
        (502, "text/plain", b"%s"),
        (200, "application/json", b'{"digest": "%s", "receipt": "%s"}'),
    ):
        in_body, in_reason, in_header = (
            name.encode() for name in hospital.canaries.draw("aggregator error", 3)
        )
        filled = body.replace(b"%s", in_body)
        front.answer = (
            b"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nX-Id: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (status, in_reason, kind.encode(), in_header, len(filled), filled)
        )
        hospital.life.agent("submission", "send", code=7)
    front.answer = None


@dataclass
class Left:
    """Everything after the whole life: the hospital, what crossed the wire, and what the servers were asked."""

    hospital: Hospital
    sent: bytes
    asked: bytes
    case_finder: Finder
    every_finder: Finder


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    folder = tmp_path_factory.mktemp("hospital")
    canaries = Canaries(seed=20)
    watched = folder / "watched"
    watched.mkdir()
    names, values = canaries.draw("environment name", 40), canaries.draw("environment value", 40)
    environment = {
        f"HOSPITAL_{name.upper()}": value for name, value in zip(names, values, strict=True)
    }
    environment |= {
        "TMPDIR": str(watched),
        "HOME": str(watched),
        "USER": values[0],
        "HOSTNAME": values[1],
    }
    life = Life(folder / "life", environment, agent_options=("--log-level", "debug"))
    hospital = Hospital(life, canaries, draw_cases(canaries))
    hospital.served = {role: canaries.draw_one("served model") for role in ("model", "one", "two")}
    canaries.add("host", JUDGE_ADDRESS)
    own_words = canaries.draw("server's own words", 3)
    life.folder.mkdir()
    life.agent("init", life.site, "--site-name", " ".join(canaries.draw("site name", 4)))
    with ExitStack() as stack:
        server = FaultServer(
            models=[hospital.served["model"]],
            fault=hospital.answer,
            owned_by=own_words[0],
            server_header=own_words[1],
            extra_model_keys={"root": own_words[2]},
        )
        judges = [hospital.served["one"], hospital.served["two"]]
        bench = FaultServer(models=judges, fault=hospital.judge, host=JUDGE_ADDRESS)
        servers = stack.enter_context(ExitStack())
        for one in (server, bench):
            servers.enter_context(one)
        plant(hospital, {"model": server.url, "one": bench.url, "two": bench.url})
        found_aggregator(hospital)
        front = stack.enter_context(Front(stack.enter_context(life.serving_aggregator())))
        life.set(aggregator_url=f"http://127.0.0.1:{front.port}")
        life.join()
        register(hospital)
        evaluate(hospital)
        servers.close()
        life.agent("judge", "--suite", hospital.suite, code=4)  # the judges are down by now
        look_around(hospital)
        submit(hospital, front)
    requests = [*server.asked, *bench.asked]
    asked = json.dumps(
        [[dict(request.body), dict(request.headers)] for request in requests]
    ).encode()
    sent = b"\n".join(front.requests)
    life.aggregator("publish", "--out", life.folder / "board")
    life.agent("audit")
    return Left(hospital, sent, asked, Finder(canaries.only(*CASE)), Finder(canaries))


def register(hospital: Hospital) -> None:
    """Freeze the private benchmark's data, have that approved, and send the statement about it."""
    life = hospital.life
    life.agent("datasets", "register", "own")
    life.agent("submission", "show")
    life.approve(1)
    life.agent("submission", "send")


def evaluate(hospital: Hospital) -> None:
    """Run the private benchmarks and a public one, judge, and score again."""
    life, suite = hospital.life, hospital.suite
    deployment = f"model={MODEL},model_deployment=local/{hospital.deployments['model']}"
    names = sorted(path.name for path in (life.site / "benchmarks").iterdir())
    for name in names:
        life.agent("run", "--suite", suite, "--run-entries", f"{name}:{deployment}", code=9)
    life.agent("run", "--suite", suite, "--run-entries", f"pubmed_qa:{deployment}", "-m", "12")
    life.agent("judge", "--suite", suite, code=9)


def look_around(hospital: Hospital) -> None:
    """Use the commands that show, count and score what is stored."""
    life, suite = hospital.life, hospital.suite
    life.agent("rescore", "--suite", suite)
    life.agent("agreement", "--suite", suite)
    life.agent("summarize", "--suite", suite)
    life.agent("benchmarks", "list")
    life.agent("datasets", "list")
    assert life.try_agent("doctor") != 0  # its servers are down by now


def found_aggregator(hospital: Hospital) -> None:
    """Make the steward's key and an aggregator that takes the private and the public benchmark."""
    life = hospital.life
    name = hospital.canaries.draw_one("steward's file")
    life.steward_name, life.key_name = name, hospital.canaries.draw_one("steward's file") + ".key"
    life.steward.mkdir(mode=0o700)
    life.make_steward_key()
    life.agent(
        "benchmarks",
        "scorecard",
        "own",
        "pubmed_qa",
        "--name",
        "card",
        "--out",
        life.folder / "card.json",
    )
    (life.folder / "models.yaml").write_text(f"- name: {MODEL}\n  display_name: Test\n")
    words = ("--scorecard", life.folder / "card.json", "--models", life.folder / "models.yaml")
    life.aggregator("init", "--origin", "board.example", *words)
    life.aggregator("invite", "--site-name", "A", "--publication", "named", "--out", life.invite)


def submit(hospital: Hospital, front: Front) -> None:
    """Prepare, approve, and send, meeting forged signatures, babbling servers and failing code on the way."""
    life = hospital.life
    life.agent("submission", "prepare", "--suite", hospital.suite)
    life.agent("submission", "show")
    life.approve(2)
    fail_with_canaries(hospital)
    forge_signatures(hospital, front)
    forge_enrolment(hospital, front)
    answer_with_canaries(hospital, front)
    out = life.folder / "exported"
    out.mkdir()
    life.agent("submission", "send", "--export", out)
    life.agent("submission", "send")
    assert set(life.states()) == {"receipted"}


def test_a_thousand_were_planted_and_reached_the_inference_servers(left: Left) -> None:
    """The search is not blind: what the hospital's own servers were asked holds the cases, and nothing else does."""
    canaries = left.hospital.canaries
    assert len(canaries) == IN_ALL
    assert set(canaries.carriers.values()) == {*CASE, *OWN}
    reached = left.every_finder.search_named(left.asked)
    carriers = set(reached.values())
    assert carriers >= {
        "note",
        "ward",
        "question",
        "gold",
        "answer",
        "first reply",
        "token",
        "served model",
        "criterion",
    }
    notes = [canary for canary, carrier in reached.items() if carrier == "note"]
    assert len(notes) == 2 * ROWS


def test_none_is_in_a_byte_that_was_sent(left: Left) -> None:
    assert b"POST /v1/submissions" in left.sent
    assert b"POST /v1/enrolments" in left.sent
    assert left.every_finder.search_named(left.sent) == {}


@pytest.mark.parametrize("name", ["exported", "aggregator", "board"])
def test_none_is_in_what_was_carried_out_or_published(left: Left, name: str) -> None:
    folder = left.hospital.life.folder / name
    assert [path for path in folder.rglob("*") if path.is_file()] != []
    assert left.every_finder.search_files(folder) == {}


def test_none_is_in_what_the_steward_read_and_signed(left: Left) -> None:
    life = left.hospital.life
    for name in ("half", "signed", "request-1", "approved-1", "request-2", "approved-2"):
        assert left.every_finder.search_named((life.folder / f"{name}.json").read_bytes()) == {}, (
            name
        )
    # The list of approvals holds nothing either; the folder's own name is the hospital's.
    assert left.every_finder.search_files(life.steward).keys() == {
        life.key.name,
        f"{life.key.name}.pub",
    }


def test_none_is_in_the_folder_of_submissions(left: Left) -> None:
    """Beside the suite's name, which stands in the site's own record of what it decided."""
    folder = left.hospital.life.site / "submissions"
    assert len(list(folder.rglob("*"))) > 8
    kept = left.every_finder.search_files(folder)
    assert {carrier for found in kept.values() for carrier in found.values()} <= {"suite"}
    assert {name for name in kept if not name.endswith(".verdicts.json")} == set()


def test_no_text_of_a_case_is_in_any_output_or_log(left: Left) -> None:
    life = left.hospital.life
    assert len(life.outputs) > 80
    found = {
        number: named
        for number, output in enumerate(life.outputs)
        if (named := left.case_finder.search_named(output))
    }
    assert found == {}
    assert left.every_finder.search_named((life.folder / "aggregator.log").read_bytes()) == {}


def test_no_text_of_a_case_is_in_the_site_beside_the_files_that_people_wrote(
    left: Left, tmp_path: Path
) -> None:
    site = left.hospital.life.site
    written = {str(path.relative_to(site)) for path in left.hospital.planted}
    found = left.case_finder.search_files(site)
    frozen = {
        name for name in found if name.startswith("data/.frozen/own/0001/files/")
    }  # a copy of the data
    assert found.keys() - written - frozen == set()
    for name in frozen:
        assert (site / name).stat().st_mode & 0o077 == 0, (
            "the copy is for the account of the site alone"
        )
    assert (site / "store" / "site.sqlite3").stat().st_size > 100_000


def test_nothing_stays_in_temporary_files_or_the_home_folder(left: Left) -> None:
    watched = left.hospital.life.folder.parent / "watched"
    assert left.every_finder.search_files(watched) == {}


def test_the_encrypted_store_holds_the_cases_for_who_has_the_key(left: Left) -> None:
    life, suite = left.hospital.life, left.hospital.suite
    kept = ""
    with Site(life.site).store() as store:
        for run in store.runs.select(suite):
            for one in store.answers.read_instances(run.run_id, 0, 10_000):
                kept += repr(one)
            for seats in store.juries.read_every_seat(run.run_id, range(ROWS)).values():
                kept += repr(seats)
    carriers = set(left.case_finder.search_named(kept.encode()).values())
    assert carriers >= {
        "note",
        "question",
        "gold",
        "answer",
        "thought",
        "explanation",
        "first reply",
        "weighing",
    }


def test_the_whole_would_be_found_if_it_were_packed_into_one_file(
    left: Left, tmp_path: Path
) -> None:
    """The same search finds them all in an archive of the folder of data, compressed."""
    packed = shutil.make_archive(
        str(tmp_path / "packed"), "zip", left.hospital.life.site / "benchmarks"
    )
    found = left.every_finder.search_named(Path(packed).read_bytes())
    assert set(found.values()) >= {
        "note",
        "ward",
        "question",
        "gold",
        "patient id",
        "record id",
        "column",
        "benchmark",
    }
