"""A whole life in a network namespace of its own, with every packet captured: one peer, TLS alone, no name looked up.

The site and the aggregator live in two namespaces with one cable between them. The site's namespace has a default route
and a name server at the far end of that cable, so that whatever else a command tried to reach would be in the capture.
`.ci/run` sets INTRAMURAL_NETNS=required: where a namespace cannot be made these tests fail there, and are skipped
elsewhere.
"""

import ipaddress
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.canaries import Canaries, Finder
from tests.end_to_end.cable import (
    CABLE,
    CENTRAL_ADDRESS,
    NOWHERE,
    SITE_ADDRESS,
    Cable,
    Packet,
    UnavailableError,
    capture,
    lay_cable,
    read_packets,
    skip_or_fail,
)
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.life import HOST, Life
from tests.end_to_end.wire import PrivateAuthority

pytestmark = pytest.mark.full

PORT = 8443


def streams_of(packets: list[Packet]) -> list[bytes]:
    """Return the bytes of every direction of every TCP connection, in their order, sent again or not."""
    segments: dict[tuple[tuple[str, int], tuple[str, int]], dict[int, bytes]] = {}
    for packet in packets:
        if packet.kind == "tcp" and packet.payload:
            segments.setdefault((packet.source, packet.target), {})[packet.sequence] = (
                packet.payload
            )
    return [
        b"".join(by_sequence[number] for number in sorted(by_sequence))
        for by_sequence in segments.values()
    ]


def assert_tls(stream: bytes) -> None:
    """Check that these bytes are whole TLS records and nothing else, from a handshake on."""
    assert stream[0] == 22, "a connection begins with a handshake"
    at = 0
    while at < len(stream):
        assert stream[at] in (20, 21, 22, 23)
        assert stream[at + 1] == 3
        at += 5 + int.from_bytes(stream[at + 3 : at + 5], "big")
    assert at == len(stream)


@dataclass
class Seen:
    """A life that was lived, and the packets that were seen meanwhile."""

    cable: Cable
    life: Life
    canaries: Canaries
    packets: list[Packet]
    capture: bytes
    folder: Path


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("namespace")
    with ExitStack() as stack:
        try:
            cable = stack.enter_context(lay_cable())
            listening = stack.enter_context(ExitStack())
            listening.enter_context(capture(cable.in_site, CABLE, folder / "all.pcap"))
        except UnavailableError as error:
            skip_or_fail(error)
        life, canaries = live(cable, folder)
        listening.close()
        packets = read_packets(folder / "all.pcap")
        yield Seen(cable, life, canaries, packets, (folder / "all.pcap").read_bytes(), folder)


def live(cable: Cable, folder: Path) -> tuple[Life, Canaries]:
    """Live from an empty folder to a receipt, with the names of everything planted that the site may name itself."""
    canaries = Canaries(seed=30)
    authority = PrivateAuthority(folder)
    identity = authority.issue(HOST)
    # The namespace holds the network; the tests' own refusal of connections would hide what is tried.
    environment = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": ""}
    names, values = canaries.draw("environment", 20), canaries.draw("environment", 20)
    environment |= {f"HOSPITAL_{name}": value for name, value in zip(names, values, strict=True)}
    life = Life(folder / canaries.draw_one("folder"), environment, cable.in_site, cable.in_central)
    life.found(f"https://{HOST}:{PORT}", site_name=" ".join(canaries.draw("site name", 5)))
    life.set(ca_bundle=str(authority.bundle))
    life.suite = canaries.draw_one("suite")
    plant_private_benchmark(life, canaries)
    life.evaluate()
    front = (
        "tests.end_to_end.wire",
        CENTRAL_ADDRESS,
        str(PORT),
        identity.certificate,
        identity.key,
    )
    with life.serving_aggregator() as port, life.serving(cable.in_central, *front, str(port)):
        life.join()
        life.prepare()
        life.agent("submission", "send")
    assert life.states() == ["receipted"]
    return life, canaries


def plant_private_benchmark(life: Life, canaries: Canaries) -> None:
    """Write a benchmark of the hospital's own full of canaries, and run it; nothing of it is reported."""
    folder = life.site / "benchmarks" / canaries.draw_one("benchmark")
    folder.mkdir()
    lines = ["patient,note,question,correct_answer"]
    for note, patient, gold in zip(
        canaries.draw_phrases("note", 40),
        canaries.draw("patient", 40),
        canaries.draw("gold", 40),
        strict=True,
    ):
        lines.append(f"{patient},{note} had a cough.,Which?,{gold}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "prompt.txt").write_text("{note}\n{question}")
    (folder / "benchmark.yaml").write_text(
        f"name: {folder.name}\ndescription: invented\naccess: private\nunit_column: patient\n"
        "prompt_file: prompt.txt\ndataset_file: data.csv\nmetrics:\n  - name: exact_match\n"
    )
    life.benchmarks = (*life.benchmarks, folder.name)


def test_the_only_peer_is_the_aggregator(seen: Seen) -> None:
    peers = {
        end
        for packet in seen.packets
        if packet.kind != "arp"
        for end in packet.ends
        if end[0] != SITE_ADDRESS
    }
    assert peers == {(CENTRAL_ADDRESS, PORT)}
    opened = {packet.source for packet in seen.packets if packet.source[0] == SITE_ADDRESS}
    assert len(opened) >= 3  # enrolment, registry, submission


def test_no_name_is_looked_up_and_nothing_but_tcp_and_arp_is_sent(seen: Seen) -> None:
    assert {packet.kind for packet in seen.packets} == {"arp", "tcp"}
    asked_for = {packet.payload[24:28] for packet in seen.packets if packet.kind == "arp"}
    assert asked_for <= {
        ipaddress.ip_address(address).packed for address in (SITE_ADDRESS, CENTRAL_ADDRESS)
    }


def test_every_byte_of_every_connection_is_tls(seen: Seen) -> None:
    streams = streams_of(seen.packets)
    assert len(streams) >= 6
    for stream in streams:
        assert_tls(stream)
    # The host's name stands in the handshake, as TLS has it; nothing of the exchange does.
    assert HOST.encode() in seen.capture
    for plain in (b"/v1/", b"payload", b"HTTP/1.1", b"signatures"):
        assert plain not in seen.capture


def test_no_canary_is_in_the_capture(seen: Seen) -> None:
    finder = Finder(seen.canaries)
    assert len(seen.canaries) > 160
    assert finder.search_named(seen.capture) == {}
    assert finder.search_files(seen.life.central) == {}
    # The site's own record of what it decided names the suite; it does not leave.
    kept = finder.search_files(seen.life.site / "submissions")
    assert {carrier for found in kept.values() for carrier in found.values()} <= {"suite"}
    # The site itself is full of them.
    assert len(finder.search_files(seen.life.site)) > 2


TRY_OUT = f"""
import socket
for address in (("{CENTRAL_ADDRESS}", 9), ("{NOWHERE}", 80)):
    try:
        socket.create_connection(address, timeout=0.5)
    except OSError:
        pass
try:
    socket.getaddrinfo("patient.example", 443)
except OSError:
    pass
"""


def test_the_capture_is_not_blind(seen: Seen) -> None:
    """A process at the site that tries other ports, other addresses and names is seen, and told from the rest."""
    path = seen.folder / "tried.pcap"
    with capture(seen.cable.in_site, CABLE, path):
        environment = {**os.environ, "PYTHONPATH": ""}
        subprocess.run(
            [*seen.cable.in_site, sys.executable, "-c", TRY_OUT],
            env=environment,
            check=True,
            timeout=30,
        )
    packets = read_packets(path)
    reached = {packet.target for packet in packets if packet.source[0] == SITE_ADDRESS}
    assert {(CENTRAL_ADDRESS, 9), (NOWHERE, 80), (NOWHERE, 53)} <= reached
    assert "udp" in {packet.kind for packet in packets}
    assert any(b"patient" in packet.payload for packet in packets if packet.kind == "udp")
