"""The units of deploy/systemd under a real systemd: started as written, with all that closes them in force."""

import base64
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.model_servers.gguf_files import write_gguf
from tests.deploy.booted_system import (
    ADDRESS,
    BootedSystem,
    UnavailableError,
    boot,
    wait_until,
)
from tests.deploy.guides import DEPLOY, read_commands

UNITS = DEPLOY / "systemd"
REQUIRED = os.environ.get("INTRAMURAL_NETNS") == "required"
AGENT, AGGREGATOR = "intramural-agent.service", "intramural-aggregator.service"
SITE = "/var/lib/intramural/site"
PROGRAM = "/opt/intramural/bin/intramural"
IN_SITE = (PROGRAM, "--site", SITE)
PORT = 8001
NEAR, FAR = "10.231.81.1", "10.231.81.2"
BASELINES = f"http://{ADDRESS}:{PORT}/v1"
DEPLOYMENTS = """\
model_deployments:
  - name: local/small
    model_name: org/small
    model_server: {engine: llamacpp, weights: /srv/models/small.gguf}
"""
PAGES = "http://127.0.0.1:8766/sign-in"


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BootedSystem]:
    try:
        with boot(tmp_path_factory.mktemp("booted")) as booted:
            booted.follow("systemd", "Accounts and units")
            yield booted
    except UnavailableError as error:
        if REQUIRED:
            raise
        pytest.skip(f"a second systemd cannot be started here: {error}")


def run_as(system: BootedSystem, account: str, *words: str) -> str:
    """Run a command as the guides do. It must succeed."""
    return system.do("runuser", "--user", account, "--", *words)


def ask(system: BootedSystem, address: str) -> str:
    """Return the status of the reply to a GET request; "000" without one."""
    words = ("curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", address)
    return system.run(*words).stdout


@pytest.fixture(scope="module")
def site(system: BootedSystem) -> BootedSystem:
    """The system with a site whose models are the baselines, which another machine's address serves."""
    system.follow("systemd", "The agent")
    wait_until(lambda: ask(system, PAGES) == "200", lambda: system.read_journal(AGENT))
    system.do("systemctl", "stop", AGENT)
    settings = f"allowed_hosts: [{ADDRESS}, 127.0.0.1]\nconnect_timeout_s: 1\nmax_attempts: 1\noutage_grace_s: 1\n"
    settings += "keep_texts_days: 30\n"
    append(system, f"{SITE}/site.yaml", settings)
    serve = ("baselines", "serve", "--host", ADDRESS, "--port", str(PORT), "--unsafe-any-host")
    system.do("systemd-run", "--quiet", "--unit=baselines", "--uid=nobody", PROGRAM, *serve)
    wait_until(
        lambda: ask(system, f"http://{ADDRESS}:{PORT}/v1/models") == "200",
        lambda: system.read_journal("baselines"),
    )
    return system


def append(system: BootedSystem, path: str, lines: str) -> None:
    system.do("sh", "-c", 'cat >> "$0"', path, typed=lines)


@pytest.fixture
def agent(site: BootedSystem) -> Iterator[BootedSystem]:
    """The system with the agent's service running."""
    start(site)
    yield site
    site.do("systemctl", "stop", AGENT)
    site.do("rm", "-rf", f"/etc/systemd/system/{AGENT}.d")
    site.do("systemctl", "daemon-reload")


def start(system: BootedSystem) -> None:
    system.do("systemctl", "start", AGENT)
    wait_until(lambda: ask(system, PAGES) == "200", lambda: system.read_journal(AGENT))


def allow_other_machine(system: BootedSystem) -> None:
    """Let the agent's service reach ADDRESS."""
    system.follow("systemd", "Other machines")
    drop_in = f"/etc/systemd/system/{AGENT}.d/network.conf"
    system.do("sed", "--in-place", f"s/=10.1.0.5$/={ADDRESS}/", drop_in)
    system.do("systemctl", "daemon-reload")
    system.do("systemctl", "restart", AGENT)


def queue_run(system: BootedSystem, suite: str, server: str = BASELINES) -> str:
    """Queue a run of one benchmark; return the job's id."""
    words = ("--suite", suite, "--server", server, "--queue")
    entry = "med_qa:model=baseline/random"
    said = run_as(system, "intramural", *IN_SITE, "run", "-r", entry, *words)
    return read_job(said)


def read_job(said: str) -> str:
    """Return the id in what a command with --queue printed."""
    return said.partition("queued as job ")[2].partition(":")[0]


def read_state(system: BootedSystem, job: str) -> str:
    words = ("jobs", "show", job, "--format", "json")
    (row,) = json.loads(run_as(system, "intramural", *IN_SITE, *words))
    return str(row["state"])


def await_job(system: BootedSystem, job: str, state: str) -> None:
    """Wait until a job has ended; it must have done so in this state."""
    watch = ("runuser", "--user", "intramural", "--", *IN_SITE, "jobs", "watch", job)
    system.run(*watch)
    assert read_state(system, job) == state, run_as(
        system, "intramural", *IN_SITE, "jobs", "log", job
    )


def test_the_agent_does_not_start_where_no_site_is(system: BootedSystem):
    system.do("systemctl", "start", "intramural-agent.service")
    assert system.show(AGENT, "ConditionResult") == "no"


def test_the_agent_serves_its_pages(agent: BootedSystem):
    assert agent.show(AGENT, "ActiveState") == "active"
    assert ask(agent, PAGES) == "200"


@pytest.mark.full
def test_another_machine_is_reached_only_if_a_drop_in_allows_it(agent: BootedSystem):
    job = queue_run(agent, "refused")
    await_job(agent, job, "failed")
    allow_other_machine(agent)
    await_job(agent, queue_run(agent, "allowed"), "done")


@pytest.mark.full
def test_a_running_job_outlives_the_service_and_resumes_with_it(agent: BootedSystem):
    allow_other_machine(agent)
    # A server that takes connections and never answers keeps the job running.
    silent = f"import socket, time; s = socket.create_server(('{ADDRESS}', 8002)); time.sleep(999)"
    python = "/opt/intramural/bin/python"
    agent.do("systemd-run", "--quiet", "--unit=silent", python, "-c", silent)
    job = queue_run(agent, "interrupted", server=f"http://{ADDRESS}:8002/v1")
    wait_until(lambda: read_state(agent, job) == "running", lambda: agent.read_journal(AGENT))
    agent.do("systemctl", "stop", AGENT)
    assert agent.show(AGENT, "Result") == "success"
    assert read_state(agent, job) == "queued"
    start(agent)
    wait_until(lambda: read_state(agent, job) == "running", lambda: agent.read_journal(AGENT))
    run_as(agent, "intramural", *IN_SITE, "jobs", "cancel", job)


@pytest.mark.full
def test_secrets_in_the_credential_store_reach_the_service_and_nobody_else(site: BootedSystem):
    secret = f"/run/credentials/{AGENT}/trusted-proxy-secret"
    settings = f"trusted_proxy: 127.0.0.1\ntrusted_proxy_secret_file: {secret}\n"
    append(site, f"{SITE}/site.yaml", settings)
    try:
        site.do("systemctl", "start", AGENT)
        refusal = "trusted_proxy_secret_file: the file cannot be read"
        wait_until(lambda: refusal in site.read_journal(AGENT), lambda: site.read_journal(AGENT))
        site.do("systemctl", "stop", AGENT)
        site.write("/opt/secret.txt", "sesame-sesame\n")
        follow = read_commands("systemd", "Secrets")[0]
        site.do("sh", "-euc", f"cd /opt\n{follow}")
        wait_until(lambda: ask(site, PAGES) == "200", lambda: site.read_journal(AGENT))
        assert site.do("cat", secret) == "sesame-sesame\n"
        assert site.run("runuser", "--user", "nobody", "--", "cat", secret).returncode != 0
    finally:
        site.do("systemctl", "stop", AGENT)
        site.do("sed", "--in-place", "/^trusted_proxy/d", f"{SITE}/site.yaml")


@pytest.mark.full
def test_a_stranger_in_the_service_gets_no_further(site: BootedSystem):
    attempts = "/opt/intramural/bin/python /opt/repository/tests/deploy/stranger.py"
    unit = (UNITS / AGENT).read_text()
    assert "/opt/intramural/bin/intramural serve" in unit
    unit = unit.replace("/opt/intramural/bin/intramural serve", attempts)
    unit = unit.replace("[Service]", "[Service]\nType=oneshot").replace("Restart=on-failure\n", "")
    site.write("/etc/credstore/other-service", "not for the agent\n", "600")
    site.write("/etc/systemd/system/stranger.service", unit)
    site.do("systemctl", "daemon-reload")
    site.do("systemctl", "start", "stranger")
    assert site.read_journal("stranger").splitlines()[-1] == "allowed: nothing"

    # The same attempts without the unit's settings: most of them succeed.
    open_account = run_as(site, "intramural", *attempts.split())
    for attempt in ("written while running", "other processes", "services of", "another machine"):
        assert attempt in open_account


@pytest.mark.full
@pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")
def test_the_packet_filter_lets_the_agent_reach_one_destination(system: BootedSystem):
    far = ("ip", "netns", "exec", "far")
    system.do("ip", "netns", "add", "far")
    system.do("ip", "link", "add", "near", "type", "veth", "peer", "name", "end", "netns", "far")
    for where, address, name in (((), NEAR, "near"), (far, FAR, "end")):
        system.do(*where, "ip", "address", "add", f"{address}/24", "dev", name)
        system.do(*where, "ip", "link", "set", name, "up")
    listen = ("/opt/intramural/bin/python", "-m", "http.server", "--directory", "/srv")
    run_far = ("--quiet", "--property=NetworkNamespacePath=/run/netns/far")
    for port in ("8000", "8001"):
        system.do("systemd-run", *run_far, *listen, "--bind", FAR, port)
    system.do("systemd-run", "--quiet", "--uid=intramural", *listen, "--bind", NEAR, "8766")
    for address in (f"{FAR}:8000", f"{FAR}:8001", f"{NEAR}:8766"):
        wait_until(lambda at=address: ask(system, f"http://{at}") == "200", lambda at=address: at)

    system.follow("systemd", "Other machines", 1)
    path = "/etc/nftables.d/intramural-agent.nft"
    system.do("sed", "--in-place", f"s/10.1.0.5/{FAR}/", path)
    system.do("nft", "--file", path)  # replaces the rules that were loaded before
    fetch = ("curl", "--silent", "--fail", "--output", "/dev/null")
    run_as(system, "intramural", *fetch, f"http://{FAR}:8000")
    refused = system.run("runuser", "--user", "intramural", "--", *fetch, f"http://{FAR}:8001")
    assert refused.returncode == 7  # at once, not after a time limit
    assert "counter packets 1 " in system.do(
        "nft", "list", "chain", "inet", "intramural", "of_intramural"
    )
    run_as(system, "nobody", *fetch, f"http://{FAR}:8001")
    system.do(*far, *fetch, f"http://{NEAR}:8766")  # somebody opens the pages
    closed = system.run(
        *far, *fetch, f"http://{NEAR}:9"
    )  # the system itself answers that it is closed
    assert closed.returncode == 7
    system.do("nft", "delete", "table", "inet", "intramural")


@pytest.mark.full
def test_the_timer_deletes_old_texts(site: BootedSystem):
    site.follow("systemd", "Deleting old texts")
    listed = site.do("systemctl", "list-timers", "--no-pager", "--output=json")
    assert "intramural-purge.service" in listed
    site.do("systemctl", "start", "intramural-purge.service")
    assert "texts deleted; scores are kept" in site.read_journal("intramural-purge.service")


@pytest.mark.full
def test_a_model_server_of_the_sites_own_answers_the_agents_job(
    agent: BootedSystem, tmp_path: Path
):
    weights = write_gguf(tmp_path / "small.gguf", context=4096, template="{{ messages }}")
    agent.do("mkdir", "--parents", "/srv/models")
    agent.do(
        "sh",
        "-c",
        'base64 --decode > "$0"',
        "/srv/models/small.gguf",
        typed=base64.b64encode(weights.read_bytes()).decode(),
    )
    stub = Path(__file__).with_name("small_xllamacpp.py").read_text()
    packages = agent.do("sh", "-c", "echo /opt/intramural/lib/python*/site-packages").strip()
    agent.write(f"{packages}/xllamacpp.py", stub)
    agent.write(f"{SITE}/model_deployments.yaml", DEPLOYMENTS)
    agent.do("chown", "intramural:", f"{SITE}/model_deployments.yaml")
    agent.follow("systemd", "A model server")
    unit = "intramural-model@local-small.service"
    wait_until(lambda: "is ready at" in agent.read_journal(unit), lambda: agent.read_journal(unit))
    words = (
        "run",
        "-r",
        "med_qa:model=org/small,model_deployment=local/small",
        "--suite",
        "own",
        "--queue",
    )
    said = run_as(agent, "intramural", *IN_SITE, *words)
    await_job(agent, read_job(said), "done")
    agent.do("systemctl", "stop", unit)
    assert agent.show(unit, "Result") == "success"


@pytest.mark.full
def test_the_aggregator_serves_publishes_and_is_backed_up(system: BootedSystem):
    system.follow("systemd", "The aggregator")
    wait_until(
        lambda: ask(system, "http://127.0.0.1:8750/readyz") == "200",
        lambda: system.read_journal(AGGREGATOR),
    )
    for service in ("intramural-aggregator-publish", "intramural-aggregator-backup"):
        system.do("systemctl", "start", f"{service}.service")
    folder = "/var/lib/intramural-aggregator"
    assert "index.html" in system.do("ls", f"{folder}/public")
    assert system.do("sh", "-c", f"ls {folder}/backups").endswith("Z.gz\n")
    system.do("sh", "-c", f"touch --date='91 days ago' {folder}/backups/old.gz")
    system.do("systemd-tmpfiles", "--clean", "/etc/tmpfiles.d/intramural.conf")
    assert "old.gz" not in system.do("ls", f"{folder}/backups")
    system.do("systemctl", "stop", AGGREGATOR)
    assert system.show(AGGREGATOR, "Result") == "success"
