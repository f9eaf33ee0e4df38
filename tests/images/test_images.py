"""The images that run.sh has built as their guide says: `make test-images`."""

import json
import os
import re
import shlex
import stat
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from tests.deploy.guides import DEPLOY
from tests.end_to_end.wire import PrivateAuthority
from tests.images.closed_container import ClosedContainer, ask_to_stop, enter_root

ROOT = DEPLOY.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
AGENT, AGGREGATOR = (f"localhost/intramural-{name}:{VERSION}" for name in ("agent", "aggregator"))
MARKS = {AGENT: "site/site.yaml", AGGREGATOR: "board/aggregator.yaml"}
"""What `init` writes last."""
ACCOUNT = 65532
PATIENCE_S = 600  # machines with more work than processors are slow
pytestmark = [
    pytest.mark.skipif(
        os.environ.get("INTRAMURAL_IMAGES") != "built", reason="make test-images builds the images"
    ),
    pytest.mark.timeout(3600),
]


class Engine:
    """buildah with the store that run.sh names in the environment."""

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in the folder of the release; return what it printed, whatever its exit code."""
        return subprocess.run(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def do(self, *words: str) -> str:
        """Run a command; return its standard output. It must succeed."""
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def make_container(self, image: str) -> Iterator[str]:
        """Make a container of an image, until the end of the block; return its name.

        Without another limit, buildah allows 1,024 open files, which are too few for an aggregator.
        """
        container = self.do("buildah", "from", "--ulimit", "nofile=4096:4096", image).strip()
        try:
            yield container
        finally:
            self.do("buildah", "rm", container)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """buildah with the images that run.sh has built."""
    engine = Engine()
    yield engine
    engine.run("buildah", "rm", "--all")


def inspect(engine: Engine, image: str) -> dict[str, Any]:
    """Return what an image says of itself, in Docker's terms."""
    content = json.loads(engine.do("buildah", "inspect", "--type", "image", image))
    config: dict[str, Any] = content["Docker"]["config"]
    return config


@pytest.mark.parametrize("image", [AGENT, AGGREGATOR])
def test_an_image_runs_as_another_than_root_and_checks_its_health(engine: Engine, image: str):
    config = inspect(engine, image)
    assert config["User"] == f"{ACCOUNT}:{ACCOUNT}"
    assert config["Healthcheck"]["Test"][0] == "CMD"
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"


@pytest.mark.parametrize("image", [AGENT, AGGREGATOR])
def test_an_image_has_no_shell_and_nothing_that_its_account_could_change(
    engine: Engine, image: str
):
    tools = {"sh", "bash", "dash", "busybox", "perl", "apt", "apt-get", "dpkg", "pip"}
    tools |= {"curl", "wget", "gcc", "su", "mount"}
    with engine.make_container(image) as container:
        root = Path(engine.do("buildah", "mount", container).strip())
        state = root / inspect(engine, image)["WorkingDir"].lstrip("/")
        for path in root.rglob("*"):
            found = path.lstat()
            assert path.name not in tools or path.is_dir(), path
            if stat.S_ISLNK(found.st_mode):
                continue
            assert not found.st_mode & (stat.S_ISUID | stat.S_ISGID), path
            if path == state:
                assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (ACCOUNT, 0o755)
                continue
            assert (found.st_uid, found.st_gid) == (0, 0), path
            assert not found.st_mode & stat.S_IWOTH or found.st_mode & stat.S_ISVTX, path
        assert not list(state.iterdir())


def test_every_package_of_the_agent_is_one_of_its_lock(engine: Engine):
    lock = (DEPLOY / "locks" / "agent-py313.txt").read_text("utf-8")
    locked = dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", lock, re.MULTILINE))
    script = (
        "import importlib.metadata as m, json;"
        "print(json.dumps({d.name.lower().replace('_', '-'): d.version for d in m.distributions()}))"
    )
    python = "/opt/intramural/bin/python"
    with engine.make_container(AGENT) as container:
        there = json.loads(engine.do("buildah", "run", container, "--", python, "-c", script))
    assert there.pop("intramural") == VERSION
    assert len(there) > 50
    assert {(name, version) for name, version in there.items()} <= set(locked.items())


def test_buildah_runs_the_whole_demo_as_the_images_account(engine: Engine):
    script = "import os; print(os.getuid(), os.getgid(), os.access('/opt/intramural', os.W_OK))"
    program = "/opt/intramural/bin"
    with engine.make_container(AGENT) as container:
        run = ("buildah", "run", container, "--")
        assert engine.do(*run, f"{program}/python", "-c", script) == "65532 65532 False\n"
        said = engine.do(*run, f"{program}/intramural", "demo", "--dir", "/tmp/demo")
    assert "Identical: board.demo.example" in said
    assert "Done in" in said


@contextmanager
def enter_image(
    engine: Engine,
    image: str,
    volume: Path,
    environment: Sequence[str] = (),
    given: Mapping[str, Path] = MappingProxyType({}),
) -> Iterator[ClosedContainer]:
    """Make a closed container of an image, as the image states it, until the end of the block.

    Its volume is as Kubernetes gives it: root's, with a group that may write and that new folders inherit.
    """
    config = inspect(engine, image)
    if not volume.exists():
        volume.mkdir()
        os.chown(volume, 0, ACCOUNT)
        volume.chmod(0o2775)
    (place,) = config["Volumes"]
    with engine.make_container(image) as container:
        root = Path(engine.do("buildah", "mount", container).strip())
        variables = (*config["Env"], *environment)
        with enter_root(root, volume, place, config["User"], variables, given) as closed:
            yield closed


def read_arguments(section: str, image: str) -> list[list[str]]:
    """Return what the guide's commands say after an image's name; their options must close the container."""
    text = (DEPLOY / "containers" / "README.md").read_text("utf-8")
    part = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [shlex.split(line) for line in part.splitlines() if line.startswith("podman run ")]
    for words in lines:
        assert {"--read-only", "--cap-drop", "no-new-privileges"} <= set(words)
    return [words[words.index(image) + 1 :] for words in lines]


def run_to_the_end(closed: ClosedContainer, program: Sequence[str]) -> str:
    done = closed.run(program)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_whole_demo_runs_with_a_root_that_nobody_can_write(engine: Engine, tmp_path: Path):
    script = "import os; print(os.geteuid(), os.access('/opt', os.W_OK)); open('/opt/x', 'w')"
    with enter_image(engine, AGENT, tmp_path / "volume") as closed:
        done = closed.run(("/opt/intramural/bin/python", "-c", script))
        assert done.stdout == "65532 False\n"
        assert "Read-only file system" in done.stderr
        program = inspect(engine, AGENT)["Entrypoint"]
        said = run_to_the_end(closed, (*program, "demo", "--dir", "/var/lib/intramural/demo"))
    assert "Identical: board.demo.example" in said


@pytest.mark.parametrize(
    ("section", "image"), [("The agent", AGENT), ("The aggregator", AGGREGATOR)]
)
def test_a_program_started_as_the_guide_says_becomes_healthy_and_stops_when_asked(
    engine: Engine, section: str, image: str, tmp_path: Path
):
    config = inspect(engine, image)
    first, service = read_arguments(section, image)
    check = config["Healthcheck"]["Test"][1:]
    log = tmp_path / "log"
    with enter_image(engine, image, tmp_path / "volume") as closed:
        once = ("/opt/intramural/bin/python", "-I", "/opt/intramural/run_once.py")
        made = Path(config["Volumes"].popitem()[0]) / MARKS[image]
        assert run_to_the_end(closed, (*once, str(made), *config["Entrypoint"], *first))
        assert run_to_the_end(closed, (*once, str(made), *config["Entrypoint"], *first)) == ""
        assert closed.run(check).returncode == 1
        program = (*config["Entrypoint"], *service)
        with start_and_stop(closed, program, log) as running:
            await_success(closed, check, running, log)


@contextmanager
def start_and_stop(
    closed: ClosedContainer, program: Sequence[str], log: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program as process 1 during the block; it must end well when it is asked to."""
    running = closed.start(program, log)
    try:
        yield running
        ask_to_stop(running)
        assert running.wait(PATIENCE_S) == 0, log.read_text()
    finally:
        running.kill()
        running.wait()


def await_success(
    closed: ClosedContainer, check: Sequence[str], running: "subprocess.Popen[bytes]", log: Path
) -> None:
    """Repeat a check until it succeeds, while a program runs."""
    until = time.monotonic() + PATIENCE_S
    while (done := closed.run(check)).returncode != 0:
        assert running.poll() is None, log.read_text()
        assert time.monotonic() < until, done.stderr + log.read_text()
        time.sleep(1)


_ASK = """\
import ssl, sys, urllib.request
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
urllib.request.urlopen(sys.argv[1], context=context)
"""


def test_the_agent_of_the_kubernetes_overlay_becomes_ready_with_its_settings_and_secrets(
    engine: Engine, tmp_path: Path
):
    overlay = DEPLOY / "kubernetes/overlays/agent"
    agent, *_ = yaml.safe_load_all((overlay / "agent.yaml").read_text("utf-8"))
    (purge,) = yaml.safe_load_all((overlay / "purge.yaml").read_text("utf-8"))
    maps = yaml.safe_load((overlay / "kustomization.yaml").read_text("utf-8"))["configMapGenerator"]
    pod = agent["spec"]["template"]["spec"]
    (make_site,), (container,) = pod["initContainers"], pod["containers"]
    (purging,) = purge["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    settings = [*maps[0]["literals"], f"CREDENTIALS_DIRECTORY={places['secrets']}"]
    given = {
        places["secrets"]: write_secrets(tmp_path),
        places["models"]: overlay / "model_deployments.yaml",
    }
    probe = container["readinessProbe"]["httpGet"]
    address = f"https://127.0.0.1:{container['ports'][0]['containerPort']}{probe['path']}"
    ask = ("/opt/intramural/bin/python", "-c", _ASK, address)
    volume, log = tmp_path / "volume", tmp_path / "log"
    config = inspect(engine, AGENT)
    with enter_image(engine, AGENT, volume) as closed:
        run_to_the_end(closed, (*make_site["command"], *make_site["args"]))
    with enter_image(engine, AGENT, volume, settings, given) as closed:
        program = (*config["Entrypoint"], *container["args"])
        with start_and_stop(closed, program, log) as running:
            await_success(closed, ask, running, log)
            assert closed.run(config["Healthcheck"]["Test"][1:]).returncode == 0
            run_to_the_end(closed, (*config["Entrypoint"], *purging["args"]))


def write_secrets(folder: Path) -> Path:
    """Return a folder with the agent's secrets, as Kubernetes mounts them."""
    identity = PrivateAuthority(folder).issue("eval.hospital.example")
    secrets = folder / "secrets"
    secrets.mkdir()
    for name, source in (("certificate", identity.certificate), ("key", identity.key)):
        file = secrets / f"service-tls-{name}"
        file.write_bytes(Path(source).read_bytes())
        os.chown(file, 0, ACCOUNT)
        file.chmod(0o440)
    return secrets
