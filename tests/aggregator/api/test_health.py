"""The people who watch over the service: is it alive, is it ready, and how much does it do."""

import json
import logging
import sys
from pathlib import Path

import pytest

from aggregator.api import health_routes
from aggregator.api.logs import JsonFormatter, TextFormatter
from aggregator.home import Home
from tests.aggregator.conftest import Served, ServedByProcess, serve_in_thread, start, stop
from tests.aggregator.copies import destroy_database
from tests.aggregator.federation import TestSite, registry_of, scores


def test_healthz_says_that_the_process_lives(served: Served) -> None:
    answer = served.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_service_that_can_take_submissions_is_ready(served: Served) -> None:
    answer = served.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": "ok", "registry": "ok", "log_key": "ok"},
    }


def test_an_expired_registry_is_not_ready_but_alive(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_routes, "today_day", lambda: registry_of(served.home).expires_day)
    answer = served.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["registry"]) == (503, "failed")
    assert served.get("/healthz").status_code == 200


def test_a_database_that_is_gone_is_not_ready_but_alive(home: Home) -> None:
    with serve_in_thread(home) as served:
        destroy_database(home)
        answer = served.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "failed")
        assert served.get("/healthz").status_code == 200
        assert served.get("/v1/log/checkpoint").json() == {"code": "unavailable"}
        assert served.get("/metrics").status_code == 200


def figures(served: Served) -> dict[str, float]:
    lines = served.get("/metrics").text.splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }


def test_metrics_count_answers_and_refusals_and_name_nobody(served: Served, site: TestSite) -> None:
    registry = registry_of(served.home)
    envelope = site.sign(site.result(registry, scores(1)))
    assert served.post(envelope).status_code == 200
    served.post(b"{}")
    served.get("/v1/canary")
    found = figures(served)
    assert (
        found['intramural_answers_total{method="POST",route="/v1/submissions",status="200"}'] == 1
    )
    assert found['intramural_answers_total{method="GET",route="unknown",status="404"}'] == 1
    assert found['intramural_refusals_total{code="malformed"}'] == 1
    assert found["intramural_log_entries"] == 4
    assert found["intramural_registry_days_left"] > 300
    text = served.get("/metrics").text
    for secret in (site.id, "127.0.0.1", "canary", "pubmed_qa", "example/large"):
        assert secret not in text


@pytest.mark.full
def test_a_log_in_json_has_one_object_on_every_line(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    running: ServedByProcess = start(home, tmp_path / "log", options=("--log-format", "json"))
    try:
        running.post(site.sign(site.result(registry_of(home), scores(1))))
        running.post(b"{}")
    finally:
        stop(running)
    lines = [json.loads(line) for line in running.log.read_text().splitlines()]
    assert [line["logger"] for line in lines] == ["aggregator.intake", "aggregator.api"]
    assert lines[0]["message"].startswith("accepted position=3")
    assert set(lines[0]) == {"time", "level", "logger", "process", "message"}


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_no_line_of_the_log_quotes_what_an_exception_says(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("canary")
    except ValueError:
        record = logging.LogRecord("any", logging.ERROR, "file", 1, "failed", (), sys.exc_info())
    line = formatter.format(record)
    assert "ValueError" in line
    assert "canary" not in line
