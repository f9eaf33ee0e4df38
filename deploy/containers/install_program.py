"""Installs Intramural into /opt/intramural while an image is built, from wheels and sources and without a network.

The image's Python runs it. The variable VARIANT names the lock. Packages without a wheel are built with locked tools.
"""

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path("/build")
WHEELHOUSE, LOCKS, SOURCE = BUILD / "wheelhouse", BUILD / "locks", BUILD / "source"
TOOLS, WHEELS = BUILD / "tools", BUILD / "wheels"
PROGRAM = Path("/opt/intramural")
_VERSION = f"py{sys.version_info.major}{sys.version_info.minor}"
_LOCKED = ("--no-index", "--find-links", str(WHEELHOUSE), "--require-hashes", "--no-deps")


def run(*words: str | Path) -> None:
    """Run a command; it must succeed."""
    print("+", *words, flush=True)
    subprocess.run([str(word) for word in words], check=True)


def create_environment(folder: Path) -> None:
    """Create an environment without pip, which would be one more program in the image."""
    run(sys.executable, "-I", "-m", "venv", "--without-pip", folder)


def build_wheels(variant: str) -> None:
    """Write a wheel of Intramural and of every package of the lock to WHEELS."""
    create_environment(TOOLS)
    (pip,) = WHEELHOUSE.glob("pip-*.whl")
    tools = LOCKS / f"build-{_VERSION}.txt"
    install = (sys.executable, pip / "pip", "--python", TOOLS / "bin/python", "install", "--quiet")
    run(*install, *_LOCKED, "--requirement", tools)
    build = (TOOLS / "bin/python", "-m", "pip", "wheel", "--quiet", "--no-build-isolation")
    lock = LOCKS / f"{variant}-{_VERSION}.txt"
    run(*build, *_LOCKED, "--wheel-dir", WHEELS, "--requirement", lock)
    run(*build, "--no-index", "--no-deps", "--wheel-dir", WHEELS, SOURCE)


def install_program() -> None:
    """Install the wheels, and compile them so that a file's time does not matter."""
    create_environment(PROGRAM)
    python = PROGRAM / "bin/python"
    pip = (TOOLS / "bin/python", "-m", "pip", "--python", python)
    wheels = sorted(WHEELS.glob("*.whl"))
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", *wheels)
    run(*pip, "check")
    compile_all = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
    run(python, "-I", *compile_all, PROGRAM / "lib")


def main() -> None:
    """Build, install, and make the folder of the program's state."""
    build_wheels(os.environ["VARIANT"])
    install_program()
    (BUILD / "state").mkdir()


if __name__ == "__main__":
    main()
