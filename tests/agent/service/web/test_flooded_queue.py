"""One account against all others: it fills the queue, and puts into it what breaks pages or names what it must not."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.service.web.queueing import MOST_OPEN, MOST_SCHEDULES
from agent.store import Account, QueuedCommand
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import DEPLOYMENTS, Browser, RunningService

ENTRY = "pubmed_qa:model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen"
RUN = ("run", "--suite", "november", "-r", ENTRY)


@pytest.fixture
def dana(filled: FilledSite, running: RunningService) -> Browser:
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    return running.sign_in("dana")


def post_job(browser: Browser, body: bytes) -> tuple[int, str]:
    """Send a body to the HTTP interface as it is; return the status and the text of the answer."""
    headers = {
        "X-CSRF": browser.read_secret(),
        "Origin": browser.origin,
        "Content-Type": "application/json",
    }
    answer = browser.client.post("/api/v1/jobs", content=body, headers=headers)
    return answer.status_code, answer.text


def fill_queue(filled: FilledSite, account: Account, number: int) -> None:
    command = QueuedCommand(RUN, "one of many", account.account_id, suite="november")
    with filled.site.store() as store, store.transaction():
        for _ in range(number):
            store.jobs.add(command, 1_800_000_000)


def test_one_account_cannot_fill_the_queue(
    filled: FilledSite, dana: Browser, running: RunningService, people: dict[str, Account]
) -> None:
    fill_queue(filled, people["dana"], MOST_OPEN - 1)
    body = b'{"arguments": ["rescore", "--suite", "november"]}'
    assert post_job(dana, body)[0] == 200
    status, text = post_job(dana, body)
    assert status == 400
    assert "jobs of yours are open" in text
    assert post_job(running.sign_in("dan"), body)[0] == 200


def test_one_account_cannot_make_any_number_of_schedules(
    filled: FilledSite, dana: Browser, people: dict[str, Account]
) -> None:
    command = QueuedCommand(RUN, "t", people["dana"].account_id, suite="november")
    with filled.site.store() as store:
        job = store.jobs.add(command, 1_800_000_000)
        for _ in range(MOST_SCHEDULES - 1):
            store.jobs.add_schedule("* * * * *", command, 1_800_000_000)
    assert dana.submit(f"/jobs/{job.job_id}/repeat", cron="* * * * *").status_code == 303
    refused = dana.submit(f"/jobs/{job.job_id}/repeat", cron="* * * * *")
    assert refused.status_code == 400
    assert "schedules are yours" in refused.text


def test_a_command_line_of_a_megabyte_is_refused(dana: Browser) -> None:
    """The dispatcher would decrypt it twice a second."""
    entries = ", ".join(f'"{ENTRY},max_eval_instances=1"' for _ in range(1900))
    body = f'{{"arguments": ["run", "--suite", "november", "-r", {entries}]}}'
    status, text = post_job(dana, body.encode())
    assert status == 400
    assert "more than 131,072 characters" in text


@pytest.mark.parametrize(
    "title", [r"\ud800", r"\u0000", r"nightly\u202edrawer", r"two\nlines", r"\u001b[2J"]
)
def test_no_title_breaks_the_pages_of_others(
    dana: Browser, running: RunningService, title: str
) -> None:
    body = f'{{"arguments": ["rescore", "--suite", "november"], "title": "{title}"}}'
    post_job(dana, body.encode())
    vera = running.sign_in("vera")
    for path in ("/", "/jobs", "/api/v1/jobs"):
        answer = vera.get(path)
        assert answer.status_code == 200
        for character in ("\x00", "\u202e", "\x1b", r"\u202e", "two\nlines"):
            assert character not in answer.text


@pytest.mark.parametrize(
    "words",
    [
        ("--server", "http://127.0.0.1:1/v1"),
        ("--models-to-run", "org/a,data_path=/etc/passwd"),
        ("--output-path", "/tmp/out"),
        ("--judges", "/etc/passwd"),
        ("--queue",),
        ("--help",),
    ],
)
def test_the_interface_takes_no_option_that_belongs_to_a_terminal(
    filled: FilledSite, dana: Browser, words: tuple[str, ...]
) -> None:
    arguments = ", ".join(f'"{word}"' for word in ("run", "-r", "pubmed_qa", *words))
    assert post_job(dana, f'{{"arguments": [{arguments}]}}'.encode())[0] == 400
    with filled.site.store() as store:
        assert store.jobs.list_open() == []
        assert [e for e in store.audit.read_events() if e.event == "job queued"] == []


def test_other_commands_are_not_reached_by_any_order_of_words(
    filled: FilledSite, dana: Browser
) -> None:
    for arguments in (
        '"--site", "/tmp/x", "run"',
        '"--for-account", "x", "run"',
        '"submission", "approve"',
        '"export", "run"',
        '"run; id"',
        '""',
        '"-r", "run"',
    ):
        assert post_job(dana, f'{{"arguments": [{arguments}]}}'.encode())[0] == 400
    with filled.site.store() as store:
        assert store.jobs.list_open() == []


def test_one_account_keeps_one_thread_of_the_service_waiting_for_forecasts_and_not_all(
    filled: FilledSite, dana: Browser
) -> None:
    """The inference server takes connections and never answers."""
    fields = {
        "benchmark": "pubmed_qa",
        "deployment": "local/qwen",
        "instances": "1",
        "step": "forecast",
    }
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(60)
        port = server.getsockname()[1]
        filled.site.deployments.write_text(DEPLOYMENTS.replace(":9/v1", f":{port}/v1"), "utf-8")
        first = pool.submit(dana.submit, "/new-run", **fields)
        connection, _ = server.accept()
        second = dana.submit("/new-run", **fields)
        server.close()
        connection.close()
        first.result()
    assert second.status_code == 400
    assert "A forecast of yours is being made" in second.text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (
            "/new-run",
            {"benchmark": "pubmed_qa", "deployment": "local/qwen", "instances": "9" * 5000},
        ),
        ("/account/tokens", {"label": "t", "scope": "view_jobs", "days": "9" * 5000}),
        ("/redaction/new", {"name": "a", "suite": "november", "records": "9" * 5000}),
    ],
)
def test_a_number_of_five_thousand_digits_is_a_wrong_number_and_no_fault_of_the_program(
    dana: Browser, running: RunningService, path: str, fields: dict[str, str]
) -> None:
    browser = running.sign_in("stella") if path.startswith("/redaction") else dana
    assert browser.submit(path, **fields).status_code == 400
