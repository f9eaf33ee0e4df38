"""What of a pooled site's statements reaches the public: nothing but hashes, and the merged figures."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.home import Home, today_day
from aggregator.log import journal
from aggregator.registry.versions import all_envelopes
from protocol.canonical import canonical
from protocol.envelope import decode, encode_base64
from protocol.predicates import ResultPredicate
from protocol.statements import kind_name, parse_statement
from tests.aggregator.audited import change_registry
from tests.aggregator.conftest import Served
from tests.aggregator.federation import TestSite, ready, registry_of, scores, submit


def secrets_of(home: Home, site: TestSite) -> list[bytes]:
    """Return everything that the statements of a site contain, and neither named sites' nor the registry do."""
    with home.database.reading() as connection:
        entries = list(journal.read_entries(connection))
        registries = b"".join(all_envelopes(connection))
    registry = registry_of(home)
    secret: set[bytes] = set()
    shown: set[bytes] = set()
    for entry in entries:
        statement = parse_statement(decode(entry.envelope).payload)
        is_about_keys = kind_name(statement) in {"enroll", "reset", "rotate"}
        if statement.header.site == site.id and not is_about_keys:
            secret |= pieces_of(entry.envelope)
        elif is_about_keys or registry.sites[statement.header.site].publication == "named":
            shown |= pieces_of(entry.envelope)
    found = sorted(piece for piece in secret - shown if piece not in registries)
    assert len(found) > 500
    return found


def pieces_of(file: bytes) -> set[bytes]:
    """Return the payload, every 60 characters of its base64, its digests, its figures and its signatures."""
    envelope = decode(file)
    statement = parse_statement(envelope.payload)
    encoded = encode_base64(envelope.payload).encode()
    pieces = {encoded[start : start + 60] for start in range(0, len(encoded) - 60, 4)}
    pieces |= {envelope.payload, envelope.digest.encode(), statement.header.ledger.head.encode()}
    pieces |= {encode_base64(signature.sig).encode() for signature in envelope.signatures}
    for name in ("scores_root", "commitment"):
        if hasattr(statement, name):
            pieces.add(getattr(statement, name).encode())
    if isinstance(statement, ResultPredicate):
        pieces.add(canonical(dict(statement.cells)))
        pieces.add(canonical(dict(statement.groups)))
    return pieces


@pytest.fixture
def hidden(home: Home) -> TestSite:
    """A pooled site with datasets, a plan, an abandonment, results and a withdrawal, among others."""
    site = ready(home, "Hidden Hospital", "pooled")
    for number in range(3):
        other = ready(home, f"Hidden {number}", "pooled")
        submit(home, other, other.result(registry_of(home), scores(number)))
    plan = submit(home, site, site.plan(registry_of(home)))
    submit(home, site, site.abandon(registry_of(home), plan))
    first = submit(home, site, site.result(registry_of(home), scores(31)))
    submit(home, site, site.withdraw(registry_of(home), first))
    submit(home, site, site.result(registry_of(home), scores(32)))
    named = ready(home, "St. Elsewhere")
    submit(home, named, named.result(registry_of(home), scores(5)))
    return site


def everything_served(served: Served) -> Iterator[bytes]:
    size = int(served.get("/v1/log/checkpoint").text.split("\n")[1])
    for path in (
        "/v1/log/checkpoint",
        "/v1/registry",
        "/healthz",
        "/v1/openapi.json",
        f"/v1/log/entries?end={size}",
    ):
        yield served.get(path).content
    for start in range(size):
        yield served.get(f"/v1/log/entries?start={start}&end={start + 1}").content
        yield served.get(f"/v1/log/consistency?from={start}&to={size}").content
    for version in range(1, registry_of(served.home).version + 1):
        yield served.get(f"/v1/registry/{version}").content


def test_no_byte_of_a_pooled_sites_statements_is_served(served: Served, hidden: TestSite) -> None:
    answers = b"\n".join(everything_served(served))
    assert answers.count(b'"leaf_hash"') > 20
    assert b'"envelope"' in answers
    assert [secret for secret in secrets_of(served.home, hidden) if secret in answers] == []
    assert b"Hidden Hospital" not in answers


def test_no_byte_of_a_pooled_sites_statements_is_published(
    home: Home, hidden: TestSite, tmp_path: Path
) -> None:
    publish(home, tmp_path / "board")
    content = b"\n".join(
        path.read_bytes() for path in sorted((tmp_path / "board").rglob("*")) if path.is_file()
    )
    assert [secret for secret in secrets_of(home, hidden) if secret in content] == []
    assert b"Hidden Hospital" not in content


def test_a_site_that_becomes_named_shows_its_later_statements_alone(
    home: Home, hidden: TestSite, tmp_path: Path
) -> None:
    before = secrets_of(home, hidden)
    sites = dict(registry_of(home).sites)
    sites[hidden.id] = replace(sites[hidden.id], publication="named", display_name="Open Hospital")
    change_registry(home, sites=sites)
    later = submit(home, hidden, hidden.result(registry_of(home), scores(77)))
    publish(home, tmp_path / "board")
    content = b"\n".join(
        path.read_bytes() for path in sorted((tmp_path / "board").rglob("*")) if path.is_file()
    )
    # Pieces of base64 are left out: its later statements name the same datasets.
    assert [secret for secret in before if len(secret) != 60 and secret in content] == []
    assert b"Open Hospital" in content
    with home.database.reading() as connection:
        last = list(journal.read_entries(connection))[-1]
    assert decode(last.envelope).digest == later
    assert last.line() in content
    assert verify(tmp_path / "board", today_day=today_day()).log.hidden > 10
