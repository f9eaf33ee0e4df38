"""Settings of alerts that would send in the open, to nobody, or to an address with something hidden in it."""

from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.site.settings import Settings, read_settings
from agent.store import AlertCode

MAIL = "alert_smtp_host: mail.h.example\nalert_from: a@h.example\nalert_to: [it@h.example]\n"


def read(folder: Path, text: str) -> Settings:
    path = folder / "site.yaml"
    path.write_text(f"site_name: A\n{text}")
    return read_settings(path)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.h.example/x",
        "http://10.0.0.1/x",
        "http://127.0.0.1.example/x",
        "ftp://hooks.h.example",
        "https://",
        "hooks.h.example",
        "https://user:CANARY@hooks.h.example/x",
        "https://hooks.h.example/x#part",
        "https://hooks.h.example/a b",
        "https://hooks.h.example:port/",
        "https://[::1",
    ],
)
def test_a_webhook_that_is_not_protected_is_refused(tmp_path: Path, url: str):
    with pytest.raises(ConfigError, match="alert_webhook_url") as caught:
        read(tmp_path, f"alert_webhook_url: '{url}'\nalert_webhook_secret_file: s\n")
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://hooks.h.example:8443/a?b=c", "http://127.0.0.1:1/", "http://localhost/x"]
)
def test_https_and_this_machine_are_fine(tmp_path: Path, url: str):
    settings = read(tmp_path, f"alert_webhook_url: '{url}'\nalert_webhook_secret_file: s\n")
    assert settings.alert_webhook_url == url
    assert settings.alert_webhook_secret_file == tmp_path / "s"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("alert_webhook_url: https://h.example/\n", "alert_webhook_secret_file"),
        ("alert_webhook_secret_file: s\n", "alert_webhook_url"),
        ("alert_to: [it@h.example]\n", "alert_smtp_host: is required"),
        ("alert_smtp_host: mail.h.example\n", "alert_from, alert_to: are required"),
        (MAIL + "alert_smtp_user: agent\n", "expected both, or neither"),
        (MAIL + "alert_smtp_security: none\n", "only for a server on this machine"),
        (MAIL + "alert_smtp_security: ssl\n", "alert_smtp_security"),
        (MAIL.replace("a@h.example", '"a@h.example\\nBcc: x@y.example"'), "alert_from"),
        (MAIL.replace("it@h.example", "Ward <it@h.example>"), "alert_to"),
        (MAIL.replace("it@h.example", "'a@h.example,b@h.example'"), "alert_to"),
        ("alert_on: [job_done, everything]\n", "alert_on"),
        ('alert_site_label: "North\\nBcc: x"\n', "alert_site_label"),
        ("alert_site_label: Größe\n", "alert_site_label"),
    ],
)
def test_half_settings_and_hidden_lines_are_refused(tmp_path: Path, text: str, fault: str):
    with pytest.raises(ConfigError, match=fault):
        read(tmp_path, text)


def test_mail_is_encrypted_unless_it_stays_on_this_machine(tmp_path: Path):
    settings = read(tmp_path, MAIL)
    assert settings.alert_smtp_security == "starttls"
    local = MAIL.replace("mail.h.example", "127.0.0.1") + "alert_smtp_security: none\n"
    assert read(tmp_path, local).alert_smtp_security == "none"


def test_alerts_are_off_and_all_events_would_be_told(tmp_path: Path):
    settings = read(tmp_path, "")
    assert settings.alert_on == tuple(AlertCode)
    assert settings.alert_webhook_url is settings.alert_smtp_host is None
