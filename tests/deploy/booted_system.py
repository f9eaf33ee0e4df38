"""A real systemd, started as process 1 of namespaces of its own, with Intramural installed where the guides put it.

Its root is this machine's, read-only, under a layer in memory: whatever it writes is gone with it. Its network has no
cable; ADDRESS stands for another machine. Root, overlayfs and cgroup2 are needed: without them, `boot` raises
UnavailableError.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.guides import read_commands

ROOT = Path(__file__).parents[2]
ADDRESS = "10.231.80.9"
"""A second address of lo. Filters that systemd sets look at the address alone."""
_SYSTEMD = Path("/usr/lib/systemd/systemd")
_PATIENCE_S = 240.0  # machines with more work than processors are slow

# Arguments: an empty folder, a folder with files to add, the interpreter's folder, its packages, the repository.
_ENTER = r"""
set -eu
mount --make-rprivate /
mount -t tmpfs layer "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
rm -rf etc/systemd/system usr/lib/systemd/system/*.wants etc/credstore etc/sysusers.d/intramural*
rm -rf opt/intramural var/lib/intramural* var/cache/intramural*
mkdir -p opt/python opt/packages opt/repository former
echo 5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e > etc/machine-id
cp -r "$2/." .
mount --bind "$3" opt/python
mount --bind "$4" opt/packages
mount --bind "$5" opt/repository
echo /opt/python/lib > etc/ld.so.conf.d/00-tested.conf  # an interpreter may look for its library where it was made
ldconfig -r .
for folder in run tmp var/tmp home root dev; do mount -t tmpfs tmpfs "$folder" -o mode=755; done
chmod 1777 tmp var/tmp
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=666
mount -t tmpfs tmpfs dev/shm -o mode=1777
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
pivot_root . former
umount -l /former
mount --make-rshared /  # systemd passes mounts, such as those with secrets, on to services
exec /usr/lib/systemd/systemd --system --unit=tested.target --log-target=null --show-status=no
"""
_TARGET = """\
[Unit]
Wants=systemd-journald.service
After=systemd-journald.service
AllowIsolate=yes
"""
_COMMAND = """\
#!/opt/intramural/bin/python
import sys
from {module} import main
sys.exit(main())
"""


class UnavailableError(Exception):
    """A second systemd cannot be started here."""


@dataclass(frozen=True)
class BootedSystem:
    """A running systemd.

    Attributes:
        process: the number of its process 1 on this machine.
    """

    process: int

    def run(self, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command in it as root; return what it printed, whatever its exit code."""
        enter = ("nsenter", "--target", str(self.process), "--all", "--", *words)
        return subprocess.run(
            enter,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
        )

    def do(self, *words: str, typed: str = "") -> str:
        """Run a command in it as root; return what it printed on standard output. It must succeed."""
        done = self.run(*words, typed=typed)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def follow(self, guide: str, section: str, block: int = 0) -> str:
        """Run a block of a guide's commands as root in the folder of the release; return what it printed."""
        commands = read_commands(guide, section)[block]
        return self.do("sh", "-euc", f"cd /opt/repository\n{commands}")

    def write(self, path: str, content: str, mode: str = "644") -> None:
        """Write a file in it, with the folders above."""
        script = 'umask 022; mkdir -p "$(dirname "$1")"; umask 077; cat > "$1"; chmod "$2" "$1"'
        self.do("sh", "-c", script, "sh", path, mode, typed=content)

    def read_journal(self, unit: str) -> str:
        """Return what a unit and systemd have written about it."""
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit", unit).stdout

    def show(self, unit: str, name: str) -> str:
        """Return a property of a unit."""
        return self.do("systemctl", "show", "--value", "--property", name, unit).strip()

    def await_state(self, unit: str, *states: str) -> None:
        """Wait until a unit is in one of the states."""
        wait_until(
            lambda: self.show(unit, "ActiveState") in states, lambda: self.read_journal(unit)
        )


def wait_until(is_done: Callable[[], bool], describe: Callable[[], str]) -> None:
    """Wait until something is so; fail with a description if it never is."""
    until = time.monotonic() + _PATIENCE_S
    while not is_done():
        assert time.monotonic() < until, describe()
        time.sleep(0.2)


@contextmanager
def boot(folder: Path) -> Iterator[BootedSystem]:
    """Start a systemd on a machine with this repository's programs; end it with all that it started.

    Args:
        folder: an empty folder.

    Raises:
        UnavailableError: it cannot be started here.
    """
    if os.geteuid() != 0:
        raise UnavailableError("only root can start a systemd in namespaces")
    missing = [name for name in ("unshare", "nsenter", "pivot_root") if shutil.which(name) is None]
    if missing or not _SYSTEMD.exists():
        raise UnavailableError(f"not installed: {', '.join(missing) or 'systemd'}")
    layer, files = folder / "layer", folder / "files"
    layer.mkdir()
    _write_files(files)
    with _make_group() as group:
        packages = Path(next(each for each in sys.path if each.endswith("site-packages")))
        places = (layer, files, Path(sys.base_prefix), packages, ROOT)
        with _enter(group, [str(place) for place in places]) as process:
            system = BootedSystem(process)
            _await_start(system)
            system.do("ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo")
            yield system


def _write_files(files: Path) -> None:
    """Write what is added to the root: the target, and /opt/intramural as `python -m venv` and pip lay it out."""
    units = files / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "tested.target").write_text(_TARGET)

    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    environment = files / "opt/intramural"
    programs, packages = environment / "bin", environment / "lib" / version / "site-packages"
    programs.mkdir(parents=True)
    packages.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text("home = /opt/python/bin\n")
    (programs / "python").symlink_to(f"/opt/python/bin/{version}")
    (packages / "tested.pth").write_text("/opt/repository\n/opt/packages\n")
    for name, module in (
        ("intramural", "agent.cli.main"),
        ("intramural-aggregator", "aggregator.cli"),
    ):
        (programs / name).write_text(_COMMAND.format(module=module))
        (programs / name).chmod(0o755)


@contextmanager
def _make_group() -> Iterator[Path]:
    """Make a control group; end whatever is left in it."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    hierarchies = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    if not hierarchies:
        raise UnavailableError("no cgroup2 is mounted")
    group = Path(hierarchies[0], f"intramural-tested-{os.getpid()}")
    try:
        group.mkdir()
    except OSError as error:
        raise UnavailableError(f"no control group can be made ({error.strerror})") from None
    try:
        yield group
    finally:
        (group / "cgroup.kill").write_text("1")
        wait_until(
            lambda: "populated 0" in (group / "cgroup.events").read_text(),
            lambda: f"processes are left in {group}",
        )
        folders = [Path(each) for each, _, _ in os.walk(group, topdown=False)]
        for each in folders:
            with suppress(OSError):
                each.rmdir()


@contextmanager
def _enter(group: Path, arguments: list[str]) -> Iterator[int]:
    """Start the script that makes the root and becomes systemd; yield the number of its process."""
    namespaces = ("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup")
    join = 'echo $$ > "$0"; exec unshare "$@"'
    command = ("sh", "-c", join, str(group / "cgroup.procs"), *namespaces, "--fork", "--kill-child")
    started = subprocess.Popen(
        (*command, "sh", "-c", _ENTER, "sh", *arguments),
        env={"PATH": os.environ["PATH"], "container": "tested"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        until = time.monotonic() + _PATIENCE_S
        while True:
            if started.poll() is not None or time.monotonic() > until:
                started.kill()
                raise UnavailableError(started.communicate()[1].strip() or "it ended")
            numbers = children.read_text().split() if children.exists() else []
            if numbers and Path(f"/proc/{numbers[0]}/comm").read_text() == "systemd\n":
                break
            time.sleep(0.1)
        yield int(numbers[0])
    finally:
        started.kill()
        started.wait()


def _await_start(system: BootedSystem) -> None:
    def is_started() -> bool:
        return system.run("systemctl", "is-active", "tested.target").stdout == "active\n"

    wait_until(
        is_started, lambda: system.run("systemctl", "list-units", "--no-pager", "--failed").stdout
    )
