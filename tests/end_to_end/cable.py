"""Network namespaces with one cable between them, and what a capture of its packets says.

`.ci/run` sets INTRAMURAL_NETNS=required: where a namespace cannot be made, tests that need one fail there, and are
skipped elsewhere.
"""

import ipaddress
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from tests.end_to_end.life import HOST

REQUIRED = os.environ.get("INTRAMURAL_NETNS") == "required"
SITE_ADDRESS, CENTRAL_ADDRESS, NOWHERE = "10.231.77.1", "10.231.77.2", "198.51.100.9"
CABLE = "itm-site"  # at most 15 characters
FAR_END = "itm-central"


class UnavailableError(Exception):
    """No namespace can be made here."""


def skip_or_fail(error: UnavailableError) -> NoReturn:
    """Skip the test, or fail where namespaces are required."""
    if REQUIRED:
        raise error
    pytest.skip(f"no network namespace with a capture can be made here: {error}")


def run_tool(*words: str) -> None:
    """Run a tool of the system. Raises UnavailableError with what it said."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)
    except OSError as error:
        raise UnavailableError(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        raise UnavailableError(f"{' '.join(words[:4])}: {done.stderr.strip()}")


@dataclass
class Cable:
    """Two namespaces with one cable between them."""

    site: str
    central: str

    @property
    def in_site(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.site)

    @property
    def in_central(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.central)


@dataclass(frozen=True)
class Ends:
    """The addresses of both ends of a cable, and of a name server that nobody can reach."""

    site: str
    central: str
    name_server: str
    prefix_length: int

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.site


IPV4 = Ends(SITE_ADDRESS, CENTRAL_ADDRESS, NOWHERE, 24)
IPV6 = Ends("fd0d:77::1", "fd0d:77::2", "2001:db8::9", 64)


@contextmanager
def lay_cable(ends: Ends = IPV4) -> Iterator[Cable]:
    """Make the namespaces, their addresses and the site's files of names; take all of it away at the end.

    With the ends of IPv6, no interface has an address of IPv4, not even the loopback.
    """
    cable = Cable(f"intramural-site-{os.getpid()}", f"intramural-central-{os.getpid()}")
    with ExitStack() as stack:
        for name in (cable.site, cable.central):
            run_tool("ip", "netns", "add", name)
            stack.callback(run_tool, "ip", "netns", "del", name)
        far_end = ("peer", FAR_END, "netns", cable.central)
        run_tool("ip", "-n", cable.site, "link", "add", CABLE, "type", "veth", *far_end)
        for name, end, address in (
            (cable.site, CABLE, ends.site),
            (cable.central, FAR_END, ends.central),
        ):
            # Without this the kernel itself sends packets of IPv6 when an end goes up.
            run_tool("ip", "-n", name, "link", "set", end, "addrgenmode", "none")
            run_tool("ip", "-n", name, "link", "set", "lo", "up")
            run_tool("ip", "-n", name, "link", "set", end, "up")
            add = ("ip", "-n", name, "addr", "add", f"{address}/{ends.prefix_length}", "dev", end)
            if ends.is_ipv6:
                run_tool(*add, "nodad")
                run_tool("ip", "-n", name, "addr", "del", "127.0.0.1/8", "dev", "lo")
            else:
                run_tool(*add)
        run_tool("ip", "-n", cable.site, "route", "add", "default", "via", ends.central)
        etc = Path("/etc/netns") / cable.site  # `ip netns exec` puts these files over those of /etc
        etc.mkdir(parents=True)
        stack.callback(shutil.rmtree, etc)
        (etc / "resolv.conf").write_text(
            f"nameserver {ends.name_server}\noptions timeout:1 attempts:1\n"
        )
        loopback = "::1" if ends.is_ipv6 else "127.0.0.1"
        (etc / "hosts").write_text(f"{loopback} localhost\n{ends.central} {HOST}\n")
        yield cable


@contextmanager
def capture(prefix: Sequence[str], interface: str, path: Path) -> Iterator[None]:
    """Write every packet of an interface to a file, as long as the block lasts.

    Args:
        prefix: the words by which a command is run in the namespace.
        interface: name of the interface.
        path: the file, in pcap's format.
    """
    # The buffer of 64 MiB holds a thousand packets, in case tcpdump has to wait for a processor.
    listen = ("tcpdump", "-i", interface, "-s", "262144", "-B", "65536", "-U", "--immediate-mode")
    command = [*prefix, *listen, "-Z", "root"]
    process = subprocess.Popen(
        [*command, "-w", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        while line and b"listening on" not in line:
            line = process.stderr.readline()
        if not line:
            raise UnavailableError("tcpdump does not listen")
        yield
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert b"\n0 packets dropped by kernel" in said, said.decode()
    finally:
        process.kill()
        process.wait(10)
        if process.stderr is not None:
            process.stderr.close()


@dataclass(frozen=True)
class Packet:
    """What one captured frame says. Address and port of both ends, 0 where there are none."""

    kind: str  # arp, neighbours (of IPv6), tcp, udp or other
    source: tuple[str, int]
    target: tuple[str, int]
    sequence: int
    payload: bytes

    @property
    def ends(self) -> frozenset[tuple[str, int]]:
        return frozenset((self.source, self.target))


def read_packets(path: Path) -> list[Packet]:
    """Read a capture of Ethernet frames in pcap's format."""
    data = path.read_bytes()
    (magic, link) = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    assert (magic, link) == (0xA1B2C3D4, 1)
    packets, at = [], 24
    while at + 16 <= len(data):
        captured, length = struct.unpack_from("<II", data, at + 8)
        assert captured == length
        packets.append(read_frame(data[at + 16 : at + 16 + captured]))
        at += 16 + captured
    return packets


def read_frame(frame: bytes) -> Packet:
    """Read an Ethernet frame."""
    kind = int.from_bytes(frame[12:14], "big")
    nobody = ("", 0)
    if kind == 0x0806:
        return Packet("arp", nobody, nobody, 0, frame[14:])
    if kind == 0x86DD:
        return _read_inner(
            frame[20],
            frame[22:38],
            frame[38:54],
            frame[54 : 54 + int.from_bytes(frame[18:20], "big")],
        )
    if kind != 0x0800:
        return Packet("other", nobody, nobody, 0, frame[14:])
    header = (frame[14] & 15) * 4
    # Without what Ethernet fills up with.
    packet = frame[14 : 14 + int.from_bytes(frame[16:18], "big")]
    return _read_inner(packet[9], packet[12:16], packet[16:20], packet[header:])


def _read_inner(protocol: int, source: bytes, target: bytes, inner: bytes) -> Packet:
    hosts = str(ipaddress.ip_address(source)), str(ipaddress.ip_address(target))
    if protocol == 58 and inner[0] in range(133, 138):
        return Packet("neighbours", (hosts[0], 0), (hosts[1], 0), 0, inner)
    if protocol not in (6, 17):
        return Packet("other", (hosts[0], 0), (hosts[1], 0), 0, inner)
    ports = struct.unpack_from(">HH", inner)
    ends = (hosts[0], ports[0]), (hosts[1], ports[1])
    if protocol == 17:
        return Packet("udp", *ends, 0, inner[8:])
    return Packet("tcp", *ends, int.from_bytes(inner[4:8], "big"), inner[(inner[12] >> 4) * 4 :])
