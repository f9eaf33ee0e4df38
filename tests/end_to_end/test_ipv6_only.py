"""A network of IPv6 alone: no interface has an address of IPv4, not even the loopback of either machine.

Inference server, aggregator, pages and `doctor` are reached by addresses of IPv6 and by a name that has no other.
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.end_to_end.cable import (
    CABLE,
    IPV6,
    Cable,
    Packet,
    UnavailableError,
    capture,
    lay_cable,
    read_packets,
    skip_or_fail,
)
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.life import HOST, MODEL, Life
from tests.end_to_end.wire import PrivateAuthority

pytestmark = pytest.mark.full

PORT = 8443
MODEL_PORT = 8001


@pytest.fixture(scope="module")
def cable() -> Iterator[Cable]:
    with ExitStack() as stack:
        try:
            yield stack.enter_context(lay_cable(IPV6))
        except UnavailableError as error:
            skip_or_fail(error)


@pytest.fixture(scope="module")
def life(cable: Cable, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """A site and an aggregator on two machines, which know no other loopback than ::1."""
    folder = tmp_path_factory.mktemp("six")
    environment = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": ""}
    life = Life(folder / "life", environment, cable.in_site, cable.in_central, loopback="::1")
    life.found(f"https://{HOST}:{PORT}")
    return life


def test_there_is_no_address_of_ipv4(cable: Cable) -> None:
    for prefix in (cable.in_site, cable.in_central):
        shown = subprocess.check_output([*prefix, "ip", "-4", "address", "show"], text=True)
        assert shown == ""


@pytest.fixture(scope="module")
def packets(cable: Cable, life: Life) -> list[Packet]:
    """Evaluate on a server of the other machine, enrol, send, and return what was seen on the cable."""
    path = life.folder / "all.pcap"
    authority = PrivateAuthority(life.folder)
    life.set(ca_bundle=str(authority.bundle))
    identity = authority.issue(HOST)
    served = ("baselines", "serve", "--host", IPV6.central, "--port", str(MODEL_PORT))
    tls = (IPV6.central, str(PORT), identity.certificate, identity.key)
    site_yaml = life.site / "site.yaml"
    site_yaml.write_text(site_yaml.read_text() + f'allowed_hosts: ["{IPV6.central}"]\n')
    with capture(cable.in_site, CABLE, path):
        with life.serving(cable.in_central, "agent", *served, "--unsafe-any-host") as url:
            assert url == f"http://[{IPV6.central}]:{MODEL_PORT}/v1"
            doctor = life.agent("doctor", "--server", url, "--model", MODEL)
            assert f"reachable at [{IPV6.central}]:{MODEL_PORT}" in doctor
            entry = f"pubmed_qa:model={MODEL}"
            words = ("run", "--server", url, "--suite", life.suite, "--run-entries", entry)
            life.agent(*words, "-m", "12")
        front = "tests.end_to_end.wire"
        with (
            life.serving_aggregator() as port,
            life.serving(cable.in_central, front, *tls, str(port), "::1"),
        ):
            life.join()
            life.prepare()
            life.agent("submission", "send")
    return read_packets(path)


def test_a_suite_is_run_and_its_submission_has_a_receipt(life: Life, packets: list[Packet]) -> None:
    assert packets
    assert life.states() == ["receipted"]


def test_only_the_inference_server_and_the_aggregator_are_spoken_to(packets: list[Packet]) -> None:
    assert {packet.kind for packet in packets} <= {"tcp", "neighbours"}
    peers = {end for packet in packets if packet.kind == "tcp" for end in packet.ends}
    assert {end for end in peers if end[0] != IPV6.site} == {
        (IPV6.central, MODEL_PORT),
        (IPV6.central, PORT),
    }


def test_people_open_the_pages_at_an_address_of_ipv6(cable: Cable, life: Life) -> None:
    life.set(service_host="::1", service_origin=None)
    settings = life.site / "site.yaml"
    settings.write_text(settings.read_text() + "service_port: 8766\n")
    with life.serving(cable.in_site, "agent", "--site", life.site, "serve"):
        assert fetch(cable, "http://[::1]:8766/healthz") == 200


def fetch(cable: Cable, url: str) -> int:
    """Return the status of a page, read on the site's machine."""
    command = [*cable.in_site, "curl", "--silent", "--globoff", "--output", "/dev/null"]
    deadline = time.monotonic() + 20
    while True:
        done = subprocess.run(
            [*command, "--write-out", "%{http_code}", url], capture_output=True, check=False
        )
        if done.returncode == 0 or time.monotonic() > deadline:
            return int(done.stdout)
        time.sleep(0.2)
