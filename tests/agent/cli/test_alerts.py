"""`intramural alerts` and what `doctor` says about alerts."""

import json
import socket
import time
from pathlib import Path

import pytest

from agent.cli.checks import Check
from agent.cli.doctor_alerts import check_alerts
from agent.site.directory import Site, create_site
from agent.store import AlertCode, AlertEvent, Channel, MessageState
from tests.agent.alerts.alerted_site import write_secret
from tests.agent.alerts.receivers import SECRET, answer_with, open_mail, open_webhook
from tests.agent.terminal import Done, intramural


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def configure(site: Site, text: str) -> Site:
    with (site.directory / "site.yaml").open("a") as file:
        file.write(text)
    return Site(site.directory)


def use_webhook(site: Site, url: str) -> Site:
    write_secret(site.directory)
    return configure(site, f"alert_webhook_url: {url}\nalert_webhook_secret_file: alerts.secret\n")


def alerts(site: Site, *words: str) -> Done:
    return intramural("--site", site.directory, "alerts", *words, cwd=site.directory)


def check(site: Site) -> Check:
    (found,) = check_alerts(site)
    return found


def test_a_test_alert_reports_what_came_back_from_each_channel(site: Site):
    with open_webhook() as receiver, open_mail() as (mailbox, port):
        use_webhook(site, receiver.url)
        configure(
            site,
            f"alert_smtp_host: 127.0.0.1\nalert_smtp_port: {port}\nalert_smtp_security: none\n"
            "alert_from: a@h.example\nalert_to: [it@h.example]\nalert_site_label: North\n",
        )
        done = alerts(site, "test")
        assert (done.returncode, done.stdout) == (
            0,
            "webhook: delivered, status 204\nmail: delivered, reply 250\n",
        )
        assert (receiver.got[0].alert["test"], receiver.got[0].alert["site"]) == (True, "North")
        assert "Subject: Intramural (North): this is a test alert" in mailbox.mails[0].content
        receiver.answer = answer_with(404)
        mailbox.reply = "554 CANARY"
        done = alerts(site, "test")
    assert done.returncode == 7
    assert "webhook: not delivered: the webhook answered with status 404" in done.stdout
    assert "mail: not delivered: the mail server refused the alert with code 554" in done.stdout
    assert "CANARY" not in done.stdout
    with site.store() as store:
        details = [one.detail for one in store.audit.read_events() if one.event == "alert test"]
    assert [detail.split("result=")[1] for detail in details] == [
        "status 204",
        "reply 250",
        "not delivered",
        "not delivered",
    ]


def test_a_test_without_a_receiver_says_which_setting_is_missing(site: Site):
    done = alerts(site, "test")
    assert done.returncode == 2
    assert "names no receiver of alerts" in done.stderr


def test_alerts_are_listed_with_their_state(site: Site):
    assert alerts(site, "list").stdout == "No alert was sent yet.\n"
    with site.store() as store:
        store.alerts.watch([Channel.MAIL])
        store.alerts.add_event(AlertEvent(AlertCode.DISK_LOW, 1.9e9))
        message = store.alerts.open_message(Channel.MAIL, 1.9e9)
        assert message is not None
        store.alerts.end(message.message_id, MessageState.SENT, "reply 250", 1.9e9)
    (row,) = json.loads(alerts(site, "list", "--format", "json").stdout)
    assert row == {
        "id": message.message_id,
        "channel": "mail",
        "made": "2030-03-17 17:46",
        "state": "sent",
        "attempts": 1,
        "last": "reply 250",
        "events": "disk_low 1",
    }
    assert "disk_low 1" in alerts(site, "list").stdout


def test_tests_are_listed_and_counted(site: Site):
    with open_webhook() as receiver:
        site = use_webhook(site, receiver.url)
        assert alerts(site, "test").returncode == 0
        assert "0 and 1 test delivered in the last seven days" in check(site).finding
        (row,) = json.loads(alerts(site, "list", "--format", "json").stdout)
        assert (row["state"], row["last"], row["events"]) == ("sent", "status 204", "test")
        assert row["id"] == receiver.got[0].alert["id"]
        receiver.answer = answer_with(404)
        assert alerts(site, "test").returncode == 7
        found = check(site)
        assert found.verdict == "warning"
        assert "webhook does not get through (status 404)" in found.finding
        receiver.answer = answer_with(204)
        alerts(site, "test")  # mended: the earlier failure is no reason to warn
    found = check(site)
    assert (found.verdict, "2 tests delivered" in found.finding) == ("ok", True)


def test_a_test_does_not_delay_the_first_alert(site: Site):
    with site.store() as store:
        store.alerts.add_test("0" * 32, Channel.MAIL, MessageState.SENT, "reply 250", 1.9e9)
        assert store.alerts.find_last(Channel.MAIL) is None
        assert store.alerts.find_open(Channel.MAIL) is None


def test_doctor_says_nothing_about_alerts_that_are_off_and_sends_nothing(site: Site):
    assert list(check_alerts(site)) == []
    with open_webhook() as receiver:
        found = check(use_webhook(site, receiver.url))
        assert receiver.got == []
    assert (found.verdict, found.finding) == (
        "ok",
        "to a webhook at 127.0.0.1; 0 delivered in the last seven days",
    )


def test_doctor_notices_that_no_service_sends_alerts(site: Site):
    site = use_webhook(site, "https://hooks.h.example/")
    with site.store() as store:
        store.alerts.watch([Channel.WEBHOOK])
        store.alerts.add_event(AlertEvent(AlertCode.DISK_LOW, time.time()))
        store.alerts.open_message(Channel.WEBHOOK, time.time())
        assert check(site).verdict == "ok"
        with store.transaction():
            late = time.time() - 3600
            store.database.connection.execute("UPDATE alert_messages SET next_at = ?", (late,))
    found = check(site)
    assert (found.verdict, "(not tried)" in found.finding) == ("warning", True)


def test_doctor_names_a_missing_secret_and_alerts_that_do_not_get_through(site: Site):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    site = use_webhook(site, url)
    with site.store() as store:
        store.alerts.watch([Channel.WEBHOOK])
        store.alerts.add_event(AlertEvent(AlertCode.DISK_LOW, 1.9e9))
        message = store.alerts.open_message(Channel.WEBHOOK, 1.9e9)
        assert message is not None
        store.alerts.keep_trying(message.message_id, "unreachable", 1.9e9)
    found = check(site)
    assert found.verdict == "warning"
    assert "webhook does not get through (unreachable)" in found.finding
    (site.directory / "alerts.secret").chmod(0o644)
    found = check(site)
    assert (found.verdict, found.exit_code) == ("failed", 2)
    assert "alert_webhook_secret_file: the file is open to other accounts" in found.finding
    assert SECRET not in found.finding
