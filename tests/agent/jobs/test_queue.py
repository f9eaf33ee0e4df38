"""What may be queued, what is refused at once, and the servers that a command line needs."""

from pathlib import Path

import pytest

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.jobs.known_commands import find_commands
from agent.jobs.needed_servers import STARTED_HERE
from agent.jobs.queue import add_schedule, prepare_command, queue_job, retry_job
from agent.site.directory import Site, create_site
from agent.store import QueuedCommand

DEPLOYMENTS = """\
model_deployments:
  - {name: local/a, model_name: org/a, client_spec: {class_name: helm.clients.vllm_client.VLLMChatClient,
     args: {base_url: "http://127.0.0.1:8000/v1"}}}
  - {name: local/b, model_name: org/b, client_spec: {class_name: helm.clients.vllm_client.VLLMChatClient,
     args: {base_url: "http://localhost:8000/v1/"}}}
  - {name: local/judge, model_name: org/judge, client_spec: {class_name: helm.clients.vllm_client.VLLMChatClient,
     args: {base_urls: ["http://127.0.0.1:8001/v1", "http://127.0.0.1:8002/v1"]}}}
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "Test")
    site.deployments.write_text(DEPLOYMENTS)
    return site


def test_the_commands_of_the_command_line_are_known():
    assert find_commands() is intramural


def command(site: Site, *arguments: str, files_allowed: bool = False) -> QueuedCommand:
    return prepare_command(site, arguments, files_allowed=files_allowed)


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "elsewhere"),
        ("submission", "approve"),
        ("view", "--reveal"),
        ("jobs", "work", "0" * 16),
        ("purge", "--older-than", "1"),
        ("datasets", "add"),
        ("--site", "/elsewhere", "run"),
        ("runaway",),
        (),
    ],
)
def test_a_command_that_is_not_for_the_queue_is_refused_by_name(site: Site, arguments: tuple):
    with pytest.raises(ConfigError, match="cannot be queued") as error:
        command(site, *arguments)
    assert "run, judge, rescore, datasets fetch" in error.value.advice
    if arguments and not arguments[0].startswith("-"):
        assert arguments[0] in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--modle", "x"), "No such option.*--modle"),
        (("run", "-m", "none"), "none"),
        (("run",), "no run entries given"),
        (("run", "-r", "pubmed_qa"), "lacks a model"),
        (("run", "-r", "pubmedqa:model=org/a"), "pubmed_qa"),
        (("run", "-r", "pubmed_qa:model=org/unknown"), "org/unknown"),
        (("run", "-r", "pubmed_qa:model=org/a", "--help"), "shows no help"),
        (("run", "-r", "pubmed_qa:model=org/a", "--queue"), "--queue cannot be queued"),
        (("run", "-r", "pubmed_qa:model=org/a", "--serve", "local/a"), "--serve"),
    ],
)
def test_a_wrong_option_is_refused_when_queueing_not_hours_later(
    site: Site, arguments: tuple[str, ...], message: str
):
    with pytest.raises(ConfigError, match=message):
        queue_job(site, arguments)
    with site.store() as store:
        assert store.jobs.list_open() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "-r", "pubmed_qa:model=org/a", "--output-path", "/tmp/out"),
        ("run", "-c", "/etc/passwd"),
        ("run", "-r", "pubmed_qa:model=org/a,data_path=/etc/passwd"),
        ("judge", "--judges", "/etc/passwd"),
        ("run", "-r", "pubmed_qa:model=org/a", "--server", "http://127.0.0.1:1/v1"),
        ("run", "-r", "pubmed_qa:model=org/a", "--server=http://127.0.0.1:1/v1"),
    ],
)
def test_someone_without_an_account_on_the_machine_can_name_no_file_and_no_address(
    site: Site, arguments: tuple[str, ...]
):
    with pytest.raises(ConfigError, match="only on this machine"):
        command(site, *arguments)


def test_a_name_of_a_model_smuggles_no_file_into_a_run_entry(site: Site):
    """The option completes entries without a model, so that a comma in the name would begin another key."""
    smuggled = "org/a,data_path=/etc/passwd"
    for files_allowed in (False, True):
        with pytest.raises(ConfigError, match="without a comma"):
            command(
                site,
                *("run", "-r", "pubmed_qa", "--models-to-run", smuggled),
                files_allowed=files_allowed,
            )


def test_two_deployments_on_one_server_share_its_turn(site: Site):
    of_a = command(site, "run", "-r", "pubmed_qa:model=org/a")
    of_b = command(site, "run", "-r", "pubmed_qa:model=org/b")
    words = ("run", "-r", "pubmed_qa:model=x", "--server", "http://127.0.0.1:8000/v1")
    by_url = command(site, *words, files_allowed=True)
    assert len(of_a.servers) == 1
    assert of_a.servers == of_b.servers == by_url.servers
    assert "127.0.0.1" not in str(of_a.servers)


def test_a_run_needs_the_servers_of_its_judges_unless_they_are_asked_later(site: Site):
    site.judges.write_text(
        "judges:\n  - {name: j, model: org/judge, model_deployment: local/judge}\n"
    )
    entry = ("run", "-r", "medication_qa:model=org/a", "--suite", "s")
    assert len(command(site, *entry).servers) == 3
    assert len(command(site, *entry, "--no-judging").servers) == 1
    judging = command(site, "judge", "--suite", "not-there-yet")
    assert set(judging.servers) == set(command(site, *entry).servers[1:])
    assert (judging.suite, judging.whole_suite) == ("not-there-yet", True)


def test_servers_that_the_agent_starts_take_turns_on_this_machine(site: Site, tmp_path: Path):
    weights = tmp_path / "w.gguf"
    managed = "".join(
        f"  - {{name: local/{name}, model_name: org/{name}, model_server: {{engine: llamacpp, weights: {weights}}}}}\n"
        for name in ("c", "d")
    )
    site.deployments.write_text(DEPLOYMENTS + managed)
    of_c, of_d = (
        command(site, "run", "-r", f"pubmed_qa:model=org/{name}", "--serve", f"local/{name}")
        for name in ("c", "d")
    )
    assert set(of_c.servers) & set(of_d.servers) == {STARTED_HERE}


def test_a_job_says_what_it_does(site: Site):
    job = queue_job(site, ("run", "-r", "pubmed_qa:model=org/a", "pubmed_qa:model=org/b"))
    assert job.title == "run: pubmed_qa on org/a, org/b, suite default"
    assert job.account == "command line"
    assert queue_job(site, ("rescore", "--suite", "s"), title="t", account="ada").title == "t"


def test_an_ended_job_is_queued_again_and_an_open_one_is_not(site: Site):
    job = queue_job(site, ("rescore",))
    with site.store() as store:
        with pytest.raises(ConfigError, match="is queued"):
            retry_job(store, job)
        store.jobs.cancel(job.job_id, 1.0)
        ended = store.jobs.find(job.job_id)
        assert ended is not None
        again = retry_job(store, ended, account="ada")
    assert again.command == QueuedCommand(**{**_fields(job.command), "account": "ada"})


def _fields(command: QueuedCommand) -> dict:
    return {name: getattr(command, name) for name in QueuedCommand.__dataclass_fields__}


def test_a_schedule_with_a_wrong_command_line_is_refused(site: Site):
    with pytest.raises(ConfigError, match="cannot be queued"):
        add_schedule(site, "0 3 * * *", ("purge",))
    with pytest.raises(ConfigError, match="bad hour"):
        add_schedule(site, "0 33 * * *", ("rescore",))
    added = add_schedule(site, "0  3 * * *", ("rescore",))
    assert added.cron == "0 3 * * *"
