"""Health and settings over a real service: the checks of `doctor`, and changes that stay within their list."""

import json
import time

import pytest

from agent.service.web.health import HealthChecks
from agent.site.settings import Settings
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import RunningService

WITHIN_S = 120


def test_all_checks_are_run_and_shown(running: RunningService):
    dana = running.sign_in("dana")
    assert "Nothing was checked" in dana.get("/health").text
    assert dana.submit("/health").status_code == 303
    assert "The checks began" in dana.get("/health").text
    deadline = time.monotonic() + WITHIN_S
    while running.service.health.began_at is not None and time.monotonic() < deadline:
        time.sleep(0.2)
    page = dana.get("/health").text
    for subject in ("settings", "data key", "disk", "queue", "redaction", "benchmark pubmed_qa"):
        assert f"<dt>{subject}</dt>" in page
    assert "0 failed" in page


def test_the_checks_are_run_once_for_many_who_ask(running: RunningService):
    asked: list[object] = []

    def answer(arguments: object) -> str:
        asked.append(arguments)
        time.sleep(0.3)
        failed = {"what": "store", "verdict": "failed", "finding": "<b>x</b>", "advice": "y"}
        return json.dumps([failed])

    running.service.health = HealthChecks(running.site.directory, answer)
    dana, ada = running.sign_in("dana"), running.sign_in("ada")
    for _ in range(3):
        dana.submit("/health")
    time.sleep(1)
    ada.submit("/health")  # the outcome is new enough
    assert len(asked) == 1
    page = ada.get("/health").text
    assert "1 failed" in page
    assert "&lt;b&gt;x" in page
    assert "1 check of the site failed." in ada.get("/").text
    assert "check of the site failed" not in running.sign_in("vera").get("/").text


@pytest.mark.parametrize("printed", ["", "[{}]", "Traceback", '[{"what": 1, "verdict": "?"}]'])
def test_checks_that_print_something_else_are_said_to_have_failed(
    running: RunningService, printed: str
):
    health = HealthChecks(running.site.directory, lambda _: printed)
    running.service.health = health
    health.begin()
    time.sleep(0.3)
    assert "the checks did not end" in running.sign_in("ada").get("/health").text


def test_every_setting_is_shown_with_its_source(running: RunningService):
    page = running.sign_in("ada").get("/settings").text
    for name in Settings.model_fields:
        assert f"<code>{name}</code>" in page
    assert "site.yaml, line 2" in page


def test_no_secret_and_no_folder_of_the_machine_is_shown(
    filled: FilledSite, running: RunningService
):
    path = filled.site.directory / "site.yaml"
    content = path.read_text() + (
        "proxy: http://robot:hunter2@proxy.example:3128\n"
        "oidc_client_secret_file: /run/secrets/oidc.secret\n"
        "ca_bundle: /etc/hospital/ca.pem\n"
        "alert_webhook_url: https://chat.example/hook/T0/token5\n"
        "alert_webhook_secret_file: /run/secrets/hook\n"
    )
    path.write_text(content)
    page = running.sign_in("ada").get("/settings").text
    for hidden in (
        "token5",
        "hunter2",
        "robot",
        "/run/secrets",
        "/etc/hospital",
        str(filled.site.directory),
    ):
        assert hidden not in page
    assert "proxy.example:3128" in page


def test_an_administrator_is_told_that_texts_are_not_for_them(
    filled: FilledSite, running: RunningService
):
    run_id = filled.add([case(0)])
    ada = running.sign_in("ada")
    refused = ada.get(f"/results/runs/{run_id}/instances-1.html")
    assert refused.status_code == 403
    assert "may not see texts of instances" in refused.text
    assert ada.get("/results/runs/nothing/index.html").status_code == 404


def test_an_administrator_changes_a_number_which_later_commands_use(
    filled: FilledSite, running: RunningService
):
    ada = running.sign_in("ada")
    assert ada.submit("/settings", name="max_in_flight", value="16").status_code == 303
    assert "max_in_flight: 16\n" in (filled.site.directory / "site.yaml").read_text()
    assert running.service.site.settings.max_in_flight == 16
    with filled.site.store() as store:
        assert store.audit.read_events()[-1].detail.startswith(
            "setting=max_in_flight value=16 account="
        )
    refused = ada.submit("/settings", name="max_in_flight", value="0")
    assert refused.status_code == 400
    assert "expected a whole number from 1 to 4,096" in refused.text
    assert 'id="field-max_in_flight" name="value" inputmode="decimal" maxlength="20" value="0"' in (
        refused.text
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowed_hosts", "evil.example"),
        ("redaction_policy", "none.yaml"),
        ("unsafe_one_account_approval", "true"),
        ("session_hours", "168"),
        ("oidc_issuer", "https://evil.example"),
        ("max_in_flight", "8\nredaction_policy: x"),
    ],
)
def test_what_decides_about_people_texts_and_addresses_stays(
    filled: FilledSite, running: RunningService, name: str, value: str
):
    path = filled.site.directory / "site.yaml"
    before = path.read_text()
    refused = running.sign_in("ada").submit("/settings", name=name, value=value)
    assert refused.status_code == 400
    assert path.read_text() == before
