"""What a container engine does with an image's root: read-only, in namespaces, as the image's account, without rights.

For machines on which no engine starts. Needs root, util-linux and iproute2.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Arguments: the image's root, the folder on the machine that is the volume, and where the volume goes; then pairs of a
# folder or file of the machine and where it goes, read-only.
_ENTER = r"""
set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$2" "$1$3"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp" -o mode=1777
mount -t tmpfs tmpfs "$1/dev" -o mode=755
mkdir "$1/dev/shm"
mount -t tmpfs tmpfs "$1/dev/shm" -o mode=1777
for device in null zero full random urandom; do
  touch "$1/dev/$device"
  mount --bind "/dev/$device" "$1/dev/$device"
done
root=$1
shift 3
while [ $# -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"; fi
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
  shift 2
done
mount -o remount,bind,ro "$root"
ip link set lo up
echo entered
exec sleep infinity
"""
_NAMESPACES = ("--mount", "--net", "--ipc", "--uts")
_NO_RIGHTS = ("--bounding-set=-all,+sys_chroot,+setuid,+setgid", "--no-new-privs")


@dataclass(frozen=True)
class ClosedContainer:
    """Runs programs in the root of an image.

    Attributes:
        holder: the process that keeps the namespaces.
        root: the image's root.
        user: the account, as the image states it.
        environment: the variables, as the image states them.
    """

    holder: int
    root: Path
    user: str
    environment: Sequence[str]

    def list_words(self, program: Sequence[str], *before: str) -> list[str]:
        """Return the command that runs a program inside, which is given by its whole path.

        Args:
            program: the program and its arguments.
            before: a program of the machine that starts it.
        """
        env, setpriv, chroot, nsenter = (
            shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin") or name
            for name in ("env", "setpriv", "chroot", "nsenter")
        )
        return [
            *(nsenter, "--target", str(self.holder), *_NAMESPACES),
            *before,
            *(env, "--ignore-environment", *self.environment),
            *(setpriv, *_NO_RIGHTS),
            *(chroot, f"--userspec={self.user}", "--groups=", str(self.root)),
            *program,
        ]

    def run(self, program: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Run a program to its end; return what it printed, whatever its exit code."""
        return subprocess.run(
            self.list_words(program),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, program: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
        """Start a program as process 1 of its container; its output goes into a file."""
        with log.open("wb") as output:
            return subprocess.Popen(
                self.list_words(program, "unshare", "--pid", "--fork", "--kill-child"),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )


def ask_to_stop(running: "subprocess.Popen[bytes]") -> None:
    """Send a started program the signal with which engines ask programs to stop."""
    (child,) = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)


@contextmanager
def enter_root(
    root: Path,
    volume: Path,
    place: str,
    user: str,
    environment: Sequence[str],
    given: Mapping[str, Path],
) -> Iterator[ClosedContainer]:
    """Make the namespaces of a container, until the end of the block.

    Args:
        root: the image's root, which stays as it is.
        volume: a folder of the account's.
        place: where the volume is inside.
        user: the account, UID:GID.
        environment: the variables, NAME=VALUE each.
        given: files and folders that are mounted read-only, by their place inside.
    """
    unshare = ("unshare", *_NAMESPACES, "sh", "-c", _ENTER, "sh")
    mounts = [word for inside, path in given.items() for word in (str(path), inside)]
    holder = subprocess.Popen(
        (*unshare, str(root), str(volume), place, *mounts), stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"entered\n"
        yield ClosedContainer(holder.pid, root, user, environment)
    finally:
        holder.kill()
        holder.wait()
