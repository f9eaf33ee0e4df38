"""A hospital that asks its steward: the small world of the protocol's tests with today's date, and the tool itself."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization

from protocol import envelope
from protocol.approval_files import (
    ApprovalRequest,
    AuditHead,
    DraftFile,
    read_signed_drafts,
    write_approval_request,
)
from protocol.envelope import REGISTRY_TYPE
from protocol.keys import Ed25519Signer, Signer
from protocol.policy import DisclosurePolicy, bucket_of
from protocol.predicates import DatasetPredicate, LedgerHead, ResultPredicate, Statement
from protocol.registry import Registry, SiteKey, build_registry
from protocol.statements import build_statement
from tests.forked import run_command
from tests.protocol import world

ROOT = Path(__file__).parents[2]
TODAY = int(time.time()) // 86_400
PASSWORD = "correct horse battery"
NOTES = {"units": 10_000, "added": 0, "removed": 0, "changed": 0, "never_seen": 10_000}


def registry(**changes: Any) -> Registry:
    return world.registry(**{"expires_day": TODAY + 100, **changes})


def registry_with(steward: Signer) -> Registry:
    """The world's registry, with this key as the steward's."""
    site = world.REGISTRY.sites[world.SITE]
    keys = (SiteKey(world.AGENT.public, "agent"), SiteKey(steward.public, "steward"))
    return registry(sites={**world.REGISTRY.sites, world.SITE: replace(site, keys=keys)})


def sign_registry(content: Registry, *signers: Signer) -> bytes:
    return envelope.sign(build_registry(content), signers or [world.ROOT], REGISTRY_TYPE)


def ledger(length: int) -> LedgerHead:
    return LedgerHead(length, f"{length:064x}")


def link(statement: Statement, seq: int, prev: str, length: int | None = None) -> Any:
    """The statement at that place of the chain, with as many entries in the ledger."""
    header = replace(
        statement.header, seq=seq, prev=prev, ledger=ledger(seq if length is None else length)
    )
    return replace(statement, header=header)  # type: ignore[arg-type]


def chain() -> tuple[DatasetPredicate, DatasetPredicate, ResultPredicate]:
    """Two datasets and a result about both, as the first three links."""
    ward = link(world.WARD, 1, world.ENROLMENT)
    notes = link(world.NOTES, 2, world.digest_of(ward))
    data = {"exam": "none", "ward": world.digest_of(ward), "notes": world.digest_of(notes)}
    result = replace(world.RESULT, data=data, day=TODAY - 1)
    return ward, notes, link(result, 3, world.digest_of(notes))


def next_result(**changes: Any) -> ResultPredicate:
    """The fourth link: a result of the same model with other figures."""
    result = chain()[2]
    cells = {**result.cells, "ward/exact_match": 750, "notes/rouge_l": 700}
    follower = replace(result, cells=cells, scores_root="5d" * 32, day=TODAY)
    return replace(link(follower, 4, world.digest_of(result)), **changes)


def request(
    *statements: Statement,
    signer: Signer = world.AGENT,
    audit: int = 7,
    registry_file: bytes | None = None,
    policy: DisclosurePolicy = world.STRICT,
    notes: Mapping[str, int] | None = None,
    refusals: Mapping[str, bytes] | None = None,
) -> bytes:
    drafts = []
    for statement in statements:
        told = NOTES if isinstance(statement, DatasetPredicate) else {}
        data = envelope.sign(build_statement(statement), [signer])
        drafts.append(DraftFile(data, told if notes is None else notes))
    return write_approval_request(
        ApprovalRequest(
            registry_file or sign_registry(registry()),
            policy,
            tuple(drafts),
            AuditHead(audit, f"{audit:064x}"),
            refusals or {},
        )
    )


def write_plain_key(path: Path, signer: Ed25519Signer) -> Path:
    """Write a key as `intramural steward-key` does: without a password."""
    pem = signer._private_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(pem)
    path.chmod(0o600)
    return path


class Steward:
    """A person with a folder, a key, and the command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.list_path = folder / "list.jsonl"
        self.signer = world.ed25519_signer(77)
        self.key = write_plain_key(folder / "steward.key", self.signer)
        self.registry_file = sign_registry(registry_with(self.signer))

    def run(
        self, *words: str | Path, answer: str = "", environment: Mapping[str, str] | None = None
    ) -> "Reply":
        """Run the tool in a process of its own."""
        paths = [str(ROOT / "deploy/steward"), str(ROOT), str(ROOT / "tests/no_network")]
        process = run_command(
            "intramural_steward",
            *words,
            folder=self.folder,
            typed=answer,
            environment={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "HOME": str(self.folder),
                **(environment or {}),
            },
        )
        return Reply(process.returncode, process.stdout, process.stderr)

    def ask(self, *statements: Statement, name: str = "request.json", **details: Any) -> Path:
        """Write the site's request into the steward's folder."""
        path = self.folder / name
        path.write_bytes(request(*statements, **{"registry_file": self.registry_file, **details}))
        return path

    def approve(
        self, file: Path, *options: str | Path, out: str = "signed.json", answer: str = "y\n" * 9
    ) -> "Reply":
        words = [
            "approve",
            file,
            "--key",
            self.key,
            "--out",
            self.folder / out,
            "--list",
            self.list_path,
            *options,
        ]
        return self.run(*words, answer=answer)

    def show(self, file: Path, *options: str | Path) -> "Reply":
        return self.run("show", file, "--list", self.list_path, *options)

    def signed(self, out: str = "signed.json") -> tuple[bytes, ...]:
        return read_signed_drafts((self.folder / out).read_bytes()).envelopes

    def decisions(self) -> list[dict[str, Any]]:
        reply = self.run("list", "--format", "json", "--list", self.list_path)
        assert reply.code == 0, reply.errors
        entries: list[dict[str, Any]] = json.loads(reply.output)["entries"]
        return entries


class Reply:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, output: str, errors: str) -> None:
        self.code = code
        self.output = output
        self.errors = errors

    def refuses(self, code: int, words: str) -> bool:
        """Whether it left with that code and one sentence with these words, and no trace of a fault."""
        said = " ".join(self.errors.split())
        assert "unexpected error" not in said, self.errors
        assert self.code == code, (self.code, self.errors)
        assert words in said, self.errors
        return True


def bucket(units: int) -> int:
    return bucket_of(units)


def without(statements: Sequence[Statement], index: int) -> list[Statement]:
    return [statement for number, statement in enumerate(statements) if number != index]
