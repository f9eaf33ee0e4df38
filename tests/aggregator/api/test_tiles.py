"""A mirror that knows C2SP's tiles and nothing of ours rebuilds the tree and arrives at the signed root."""

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.log.tiles import TileName, parse_tile_name
from tests.aggregator.conftest import Served
from tests.aggregator.federation import ready, registry_of, scores, submit
from tests.bench.make_federation import pad_log

SIZE = 600


@pytest.fixture
def long_log(served: Served) -> Served:
    named, pooled = ready(served.home, "Named", "named"), ready(served.home, "Pooled", "pooled")
    for site in (pooled, named):
        submit(served.home, site, site.result(registry_of(served.home), scores(1)))
    pad_log(served.home, SIZE)
    return served


def merkle_root(hashes: list[bytes]) -> bytes:
    """The definition of RFC 6962, section 2.1, word for word."""
    if len(hashes) == 1:
        return hashes[0]
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    return hashlib.sha256(b"\x01" + merkle_root(hashes[:k]) + merkle_root(hashes[k:])).digest()


def fetch(served: Served, path: str) -> bytes:
    answer = served.get(f"/v1/log/{path}")
    assert answer.status_code == 200, path
    assert "immutable" in answer.headers["Cache-Control"]
    return answer.content


def split(tile: bytes) -> list[bytes]:
    return [tile[start : start + 32] for start in range(0, len(tile), 32)]


def test_a_mirror_rebuilds_the_signed_root_from_tiles(long_log: Served) -> None:
    _origin, size, root = long_log.get("/v1/log/checkpoint").text.split("\n")[:3]
    assert int(size) == SIZE
    leaves = [
        leaf
        for name in ("000", "001", "002.p/88")
        for leaf in split(fetch(long_log, f"tile/0/{name}"))
    ]
    assert len(leaves) == SIZE
    assert merkle_root(leaves) == base64.b64decode(root)
    above = split(fetch(long_log, "tile/1/000.p/2"))
    assert above == [merkle_root(leaves[:256]), merkle_root(leaves[256:512])]


def test_bundles_of_entries_hold_what_is_public_of_each(long_log: Served) -> None:
    leaves = split(fetch(long_log, "tile/0/000"))
    lines = [json.loads(line) for line in fetch(long_log, "tile/entries/000").splitlines()]
    assert len(lines) == 256
    hidden = [number for number, line in enumerate(lines) if "leaf_hash" in line]
    assert hidden
    for number in hidden:
        assert lines[number]["leaf_hash"] == leaves[number].hex()
    shown = json.loads(json.dumps(lines[0]))["envelope"]
    payload = base64.b64decode(shown["payload"])
    kind = shown["payloadType"].encode()
    pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    assert hashlib.sha256(b"\x00" + pae).digest() == leaves[0]


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "path",
    [
        *(
            "tile/0/002",
            "tile/0/002.p/89",
            "tile/0/003",
            "tile/1/000",
            "tile/1/000.p/3",
            "tile/2/000.p/1",
        ),
        *(
            "tile/0/000.p/0",
            "tile/0/000.p/256",
            "tile/0/000.p/01",
            "tile/0/0",
            "tile/0/x000/000",
            "tile/0/000/",
        ),
        *(
            "tile/entries/002",
            "tile/entries/002.p/89",
            "tile/entries/x999/x999/x999/x999/999",
            "tile/0/..%2f000",
        ),
    ],
)
def test_tiles_that_the_log_does_not_have_are_not_there(long_log: Served, path: str) -> None:
    answer = long_log.get(f"/v1/log/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@given(number=st.integers(0, 2**45), width=st.integers(1, 256))
def test_a_tile_has_one_name(number: int, width: int) -> None:
    name = TileName(number, width)
    assert parse_tile_name(name.path) == name
    elements = name.path.partition(".p/")[0].split("/")
    assert [element.startswith("x") for element in elements] == [True] * (len(elements) - 1) + [
        False
    ]


def test_names_are_those_of_the_specification() -> None:
    assert TileName(1234067).path == "x001/x234/067"
    assert TileName(0, 5).path == "000.p/5"
