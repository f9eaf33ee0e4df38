"""Those who watch over the service learn whether it is well, in numbers that name nothing and nobody."""

import re
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx
from prometheus_client.parser import text_string_to_metric_families

from agent.access.roles import Action
from agent.service.web.gauges import GAUGES
from agent.store import Account, QueuedCommand
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import RunningService
from tests.deploy.certificates import write_certificate

CANARY = "zephyrine-quackenbush"
MOST_SERIES = 600


def scrape(running: RunningService, account: Account) -> httpx.Response:
    token = running.make_token(account, Action.VIEW_METRICS)
    return running.visit().get("/metrics", Authorization=f"Bearer {token}")


def read(running: RunningService, people: Mapping[str, Account]) -> dict[str, float]:
    """Return the value of each sample by its name with its label, such as 'intramural_jobs queued'."""
    answer = scrape(running, people["vera"])
    assert answer.status_code == 200, answer.text
    values = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            values[" ".join([sample.name, *sample.labels.values()])] = sample.value
    return values


def add_job(running: RunningService, arguments: tuple[str, ...], queued_at: float) -> str:
    command = QueuedCommand(arguments, CANARY, "command line", (CANARY,), CANARY, CANARY)
    with running.site.store() as store:
        return store.jobs.add(command, queued_at).job_id


def test_a_supervisor_asks_by_any_name_of_the_machine_and_with_head(running: RunningService):
    for path in ("/healthz", "/readyz"):
        answer = running.visit().get(path, Host=f"10.1.2.3:{running.port}")
        assert answer.status_code == 200
        assert running.visit().client.head(path).status_code == 200
    assert running.visit().get("/healthz").json() == {"status": "ok"}
    expected = {"status": "ready", "checks": {"store": "ok", "queue": "ok"}}
    assert running.visit().get("/readyz").json() == expected


def test_a_program_with_a_token_reads_the_metrics_by_any_name_and_a_browser_does_not(
    running: RunningService, people: dict[str, Account]
):
    elsewhere = f"10.1.2.3:{running.port}"
    token = f"Bearer {running.make_token(people['vera'], Action.VIEW_METRICS)}"
    program = running.visit()
    assert program.get("/metrics", Host=elsewhere, Authorization=token).status_code == 200
    assert program.get("/metrics", Host=elsewhere, Authorization="Bearer imt_x").status_code == 401
    assert program.get("/api/v1/runs", Host=elsewhere, Authorization=token).status_code == 421
    assert program.get("/metrics", Host=elsewhere).status_code == 421
    browser = running.sign_in("vera")
    assert browser.get("/metrics").status_code == 200
    assert browser.get("/metrics", Host=elsewhere).status_code == 421
    false = browser.get("/metrics", Host=elsewhere, Authorization="Bearer imt_x")
    assert false.status_code == 401  # the cookie does not help


def test_a_store_that_is_gone_is_not_ready_but_alive_and_its_metrics_are_refused(
    running: RunningService, people: dict[str, Account]
):
    token = running.make_token(people["vera"], Action.VIEW_METRICS)
    shutil.move(running.site.directory / "store", running.site.directory / "elsewhere")
    time.sleep(1.1)
    answer = running.visit().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "not_ready", "checks": {"store": "failed", "queue": "ok"}}
    assert running.visit().get("/healthz").status_code == 200
    metrics = running.visit().get("/metrics", Authorization=f"Bearer {token}")
    assert metrics.status_code == 503


def test_a_queue_that_stands_still_is_not_ready(
    running: RunningService, people: dict[str, Account]
):
    running.service.find_queue_problem = lambda: f"the store cannot be read ({CANARY})"
    answer = running.visit().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["queue"]) == (503, "failed")
    assert CANARY not in answer.text
    assert read(running, people)["intramural_ready queue"] == 0


def test_metrics_need_a_token_with_their_scope(running: RunningService, people: dict[str, Account]):
    browser = running.visit()
    assert browser.get("/metrics").status_code == 401
    assert browser.get("/metrics", Authorization="Bearer imt_wrong").status_code == 401
    other = running.make_token(people["vera"], Action.VIEW_JOBS)
    refused = browser.get("/metrics", Authorization=f"Bearer {other}")
    assert refused.status_code == 403
    assert refused.json()["error"] == "This API token lacks the scope view_metrics."
    answer = scrape(running, people["vera"])
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    only = running.make_token(people["vera"], Action.VIEW_METRICS)
    others = browser.get("/api/v1/runs", Authorization=f"Bearer {only}")
    assert others.status_code == 403


def test_the_page_shows_the_state_of_the_site(running: RunningService, people: dict[str, Account]):
    now = time.time()
    waiting = add_job(running, ("rescore", "--suite", "november"), now - 500)
    add_job(running, ("rescore", "--suite", "november"), now - 100)
    failed = add_job(running, ("rescore", "--suite", "november"), now - 900)
    with running.site.store() as store:
        store.jobs.fail(failed, now, "in vain")
        store.purge(1)
        store.audit.record("purge", "older_than_days=1 texts=0")
        store.audit.record("submission receipted", "digest=0")
    expires_at = write_certificate(running.site.keys / "service.pem", days=12)
    with (running.site.directory / "site.yaml").open("a") as file:
        file.write("service_tls_certificate: keys/service.pem\nservice_tls_key: keys/service.pem\n")
        file.write("keep_texts_days: 30\n")
    running.service.reload()
    values = read(running, people)
    assert values["intramural_jobs queued"] == 2
    assert values["intramural_jobs failed"] == 1
    assert 500 <= values["intramural_oldest_queued_job_seconds"] < 600
    assert values["intramural_ready store"] == values["intramural_ready queue"] == 1
    assert values["intramural_certificate_expiry_timestamp_seconds"] == expires_at.timestamp()
    assert values["intramural_keep_texts_seconds"] == 30 * 86_400
    for name in ("intramural_last_purge_timestamp_seconds", "intramural_last_receipt_timestamp_seconds"):  # fmt: skip
        assert abs(values[name] - now) < 60
    assert abs(values["intramural_clock_timestamp_seconds"] - now) < 60
    assert values["intramural_clock_setback_seconds"] == 0
    assert values["intramural_store_bytes"] > 4096
    assert 0 < values["intramural_disk_free_bytes"] <= values["intramural_disk_size_bytes"]
    assert values["intramural_submissions approved"] == 0
    assert values["process_resident_memory_bytes"] > 1e6
    with running.site.store() as store:
        store.jobs.cancel(waiting, now)
    assert 100 <= read(running, people)["intramural_oldest_queued_job_seconds"] < 200


def test_a_clock_that_is_behind_shows(running: RunningService, people: dict[str, Account]):
    later = int(time.time()) + 100  # tolerated, so that no session ends
    with running.site.store() as store:
        store.sessions.keep_latest_time(later)
    assert 60 < read(running, people)["intramural_clock_setback_seconds"] <= 100


def test_answers_are_counted_by_the_table_of_routes_and_no_address_is_quoted(
    running: RunningService, people: dict[str, Account]
):
    browser = running.sign_in("vera")
    for path in ("/", f"/{CANARY}", f"/jobs/{CANARY}", f"/results/{CANARY}?q={CANARY}", "/new-run"):
        browser.get(path, **{"X-Canary": CANARY})
    browser.client.request(CANARY.upper(), "/")
    browser.get("/", Host=CANARY)
    values = read(running, people)
    assert values["intramural_answers_total GET / 200"] == 1
    assert values["intramural_answers_total GET unknown 404"] == 1
    assert values["intramural_answers_total GET /jobs/{job_id} 400"] == 1
    assert values["intramural_answers_total other unknown 403"] == 1
    assert values["intramural_answers_total GET unknown 421"] == 1
    assert values["intramural_answer_seconds_count GET"] >= 6
    assert CANARY not in scrape(running, people["vera"]).text.lower()


def test_what_the_site_is_called_and_holds_is_in_no_label(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    prompt = f"{CANARY} has fever"
    run_id = filled.add([case(n, prompt=prompt, answer=CANARY, identity=CANARY) for n in range(3)])
    browser = running.sign_in("dana")
    browser.get(f"/results/runs/{run_id}/instances-1.html")
    add_job(running, ("run", "--suite", CANARY), time.time())
    text = scrape(running, people["vera"]).text
    planted = [CANARY, filled.site.name, "qwen", "127.0.0.1", "november", "vera", "dana", run_id]
    assert [word for word in planted if word.lower() in text.lower()] == []
    assert str(filled.site.directory) not in text
    values = read(running, people)
    assert values["intramural_redacted_texts_total"] >= 3
    assert values["intramural_redacted_characters_total"] > 3 * len(CANARY)
    assert values["intramural_redaction_seconds_total"] > 0
    assert len(values) < MOST_SERIES


def test_every_gauge_has_few_values_in_base_units():
    for gauge in GAUGES:
        assert re.fullmatch(r"intramural_[a-z_]+", gauge.name)
        assert not re.search(r"_(ms|minutes|hours|days|kb|mb|gb|percent|total)$", gauge.name)
        assert len(gauge.values) <= 10
        assert gauge.meaning.endswith(".")
        assert bool(gauge.label) == (gauge.values != ("",))


def test_several_readers_at_once_all_get_the_page(
    running: RunningService, people: dict[str, Account]
):
    token = running.make_token(people["vera"], Action.VIEW_METRICS)

    def read_page(_: int) -> int:
        answer = running.visit().get("/metrics", Authorization=f"Bearer {token}")
        assert answer.text.count("# TYPE intramural_jobs gauge") == 1
        return answer.status_code

    with ThreadPoolExecutor(8) as readers:
        assert set(readers.map(read_page, range(24))) == {200}
    assert read(running, people)["intramural_answers_total GET /metrics 200"] == 24
