"""A real site beside a real aggregator process, filled without a model server, and driven by its commands."""

import hashlib
import json
import socket
import threading
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from agent import __version__
from agent.cli.enroll import enroll, registry, steward_key
from agent.cli.submission import submission
from agent.cli.submission_context import open_gate
from agent.disclosure.ledger import DatasetEntry, UnitRecord
from agent.disclosure.prepare import draft_statement
from agent.site.directory import Site, create_site
from agent.store import RunDetails
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored
from aggregator.home import Home, today_day
from aggregator.registry import invites
from aggregator.registry.proposals import Changes, change_now
from intramural_steward.cli import cli as steward_tool
from protocol.identity import NONE
from protocol.policy import bucket_of
from protocol.predicates import DatasetPredicate, Header
from protocol.scorecard import BenchmarkEntry
from tests.aggregator.conftest import Served
from tests.aggregator.federation import CARD, MODELS

CANARY = "CANARY-7f3a"
SUITE = f"{CANARY}-suite"
UNITS = 120
PROTECTED = tuple(entry for entry in CARD.benchmarks if entry.id != "pubmed_qa")


class Wire:
    """A forwarder on loopback that keeps every byte that goes through it; it may be told to hang up."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.bytes = bytearray()
        self.refusals = 0  # how many more connections are hung up at once
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self.refusals:
                self.refusals -= 1
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._port))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self.bytes += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            target.close()

    def close(self) -> None:
        self._listening.close()


def make_site(directory: Path) -> Site:
    """A site whose notes, units, instances, files, suite and name are all marked. One account may approve."""
    made = create_site(directory, f"{CANARY} hospital")
    with (directory / "site.yaml").open("a") as settings:
        settings.write("unsafe_one_account_approval: true\n")
    for number, model in enumerate(MODELS[:2]):
        for cell in CARD.cells:
            fill(made, cell.benchmark, cell.metric, model.name, right=80 - 20 * number)
    return Site(directory)


def commitment_of(benchmark: str) -> str:
    return hashlib.sha256(benchmark.encode()).hexdigest()


def fill(
    site: Site,
    benchmark: str,
    metric: str,
    model: str,
    *,
    right: int,
    suite: str = SUITE,
    **details: Any,
) -> None:
    """Store a run as `intramural run` would have."""
    entry = next(entry for entry in CARD.benchmarks if entry.id == benchmark)
    cell = next(cell for cell in CARD.cells if cell.benchmark == benchmark)
    planned = [
        (
            Instance(
                f"{CANARY}-instance-{i}",
                f"{CANARY}-unit-{i}",
                (Message("user", f"{CANARY} note {i}"),),
                (Reference(f"{CANARY} gold", correct=True),),
            ),
            f"{model} {benchmark} {i}".encode(),
        )
        for i in range(UNITS)
    ]
    known, scoring = details.get("known", "sample"), details.get("scoring", "intramural")
    data = {
        "known": "unknown" if entry in PROTECTED else known,
        "digest": "00" * 32,
        "instances": UNITS,
        "problems": [f"{CANARY}.csv"],
        "attested": True,
    }
    if entry in PROTECTED:
        data["registered"] = commitment_of(benchmark)
        data["frozen_digest"] = "da" * 32
    kept = {
        "access": cell.access,
        "benchmark_digest": entry.definition,
        "data": data,
        "metrics": [{"name": metric, "low": cell.low, "high": cell.high, "binary": cell.binary}],
        "scoring": scoring,
        "agent_version": __version__,
        "language_model": True,
        "lineage": "site" if cell.access == "gated" else benchmark,
        "max_tokens": 1024,
        "overrides": [],
        "sample_seed": details.get("sample_seed", 0),
        "plan": details.get("plan", ""),
        "weights": details.get("weights"),
        "sampled": None,
        "stop": [],
        "temperature": 0.0,
        "unit_named": True,
    }
    with site.store() as store:
        run_id = store.runs.begin(
            suite=suite,
            name=f"{benchmark}:data={CANARY},model={model}",
            benchmark=benchmark,
            lineage=benchmark,
            model=model,
            deployment=f"{CANARY}/deployment",
            details=RunDetails.from_json(kept),
            planned=planned,
            scored_by=[metric],
        )
        scores: list[tuple[int, str, float | Unscored]] = [
            (i, metric, float(i < right) if cell.binary else 0.2 + 0.005 * i)
            for i in range(UNITS - 1)
        ]
        store.answers.settle(run_id, [], [*scores, (UNITS - 1, metric, Unscored(Reason.UNPARSED))])
        store.runs.end(run_id)


def run(site: Site, command: click.Command, *words: object, answer: str | None = None) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], obj=site, input=answer)


def ok(site: Site, command: click.Command, *words: object, answer: str | None = None) -> str:
    result = run(site, command, *words, answer=answer)
    if result.exception is not None:
        raise result.exception
    return result.output


def as_steward(*words: object, answer: str = "") -> str:
    """Run `intramural-steward` on the steward's own machine."""
    result = CliRunner().invoke(steward_tool, [str(word) for word in words], input=answer)
    if result.exception is not None:
        raise result.exception
    return result.output


def write_invite(home: Home, path: Path, url: str) -> Path:
    with home.database.writing() as connection:
        made = invites.invite(
            connection,
            home,
            site_name="General Hospital",
            publication="pooled",
            today_day=today_day(),
        )
    path.write_text(json.dumps({**json.loads(made.to_json()), "url": url}))
    return path


def approve_at_the_aggregator(home: Home) -> None:
    """What a person does there after comparing the fingerprints."""
    with home.database.reading() as connection:
        (asked,) = invites.pending_requests(connection, today_day=today_day())
    with home.database.writing() as connection:
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today_day())


def join(site: Site, served: Served, wire: Wire, tmp_path: Path) -> Path:
    """Enrol the site and register its datasets; return the steward's key."""
    key = tmp_path / "steward.key"
    ok(site, steward_key, "--out", key)
    invite = write_invite(served.home, tmp_path / "invite.json", wire.url)
    ok(site, enroll, "--invite", invite, "--steward-key", key)
    approve_at_the_aggregator(served.home)
    ok(site, registry, "update")
    register_datasets(site)
    ok(site, submission, "approve", "--key", key, answer="y\n" * len(PROTECTED))
    return key


def register_datasets(site: Site) -> None:
    """Draft the statements of the datasets whose units the runs of `fill` have."""
    gate = open_gate(site)
    for entry in PROTECTED:
        dataset = _dataset_of(site, entry)
        with gate.outbox.held():
            gate.append(gate.ledger().followed_by(dataset, gate.today_day))
            draft_statement(gate, _Registration(dataset).statement)


def _dataset_of(site: Site, entry: BenchmarkEntry) -> DatasetEntry:
    metric = next(cell.metric for cell in CARD.cells if cell.benchmark == entry.id)
    fingerprints = open_gate(site).secrets.fingerprints
    with site.store() as store:
        run_id = next(run.run_id for run in store.runs.select(SUITE) if run.benchmark == entry.id)
        units = [
            fingerprints.of_unit(score.unit_key)
            for score in store.scores.read_units(run_id, metric)
        ]
    records = {unit: UnitRecord(unit, unit, unit, "") for unit in units}
    commitment = commitment_of(entry.id)
    return DatasetEntry(
        entry.id, entry.definition, commitment, commitment, "", "da" * 32, UNITS, records
    )


class _Registration:
    def __init__(self, dataset: DatasetEntry) -> None:
        self._dataset = dataset

    def statement(self, header: Header) -> DatasetPredicate:
        dataset = self._dataset
        units = bucket_of(len(dataset.list_persons()))
        return DatasetPredicate(
            header,
            dataset.definition,
            dataset.commitment,
            dataset.commitment,
            "own",
            NONE,
            units,
            0,
            0,
            0,
        )


def drafts(site: Site) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = json.loads(ok(site, submission, "show", "--format", "json"))
    return pages


def rows(site: Site, kind: str = "") -> list[dict[str, Any]]:
    """The site's submissions as `submission status` lists them; of one kind, if it is named."""
    found: list[dict[str, Any]] = json.loads(ok(site, submission, "status", "--format", "json"))
    return [row for row in found if kind in ("", row["kind"])]


def states(site: Site, kind: str = "") -> list[str]:
    return [row["state"] for row in rows(site, kind)]
