"""Settings from the environment and from files of secrets: what overrides what, and errors that name the variable."""

import json
import os
import re
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.site.change_settings import change_setting
from agent.site.environment import (
    ValueShape,
    find_variable,
    list_unknown,
    name_file_variable,
    name_variable,
    read_environment,
)
from agent.site.settings import Settings, list_shapes, read_settings

ROOT = Path(__file__).parents[3]
CANARY = "zephyrine-quackenbush"
WORDS = {
    ValueShape.TEXT: "as in site.yaml",
    ValueShape.LIST: "with commas",
    ValueShape.JSON: "JSON",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "site.yaml"
    path.write_text("site_name: A\nmax_in_flight: 3\nallowed_hosts: [127.0.0.1]\n")
    return path


def read(path: Path, **variables: str) -> Settings:
    return read_settings(path, {f"INTRAMURAL_{name}": value for name, value in variables.items()})


def fault(path: Path, **variables: str) -> str:
    with pytest.raises(ConfigError) as refused:
        read(path, **variables)
    return f"{refused.value} {refused.value.advice}"


def test_a_variable_overrides_the_file_and_the_file_the_default(path: Path):
    settings = read(path, MAX_IN_FLIGHT="5")
    assert settings.max_in_flight == 5
    assert settings.site_name == "A"
    assert settings.max_attempts == 5
    assert read(path).max_in_flight == 3
    assert read(path, MAX_IN_FLIGHT="").max_in_flight == 3


def test_every_kind_of_value_can_be_given(path: Path):
    settings = read(
        path,
        UNSAFE_ONE_ACCOUNT_APPROVAL="true",
        CONNECT_TIMEOUT_S="2.5",
        ALLOWED_HOSTS="127.0.0.1, gpu1.example,",
        ALERT_ON="job_failed,disk_low",
        LOG_FORMAT="json",
        CA_BUNDLE="keys/ca.pem",
        OIDC_ROLES='{"data-science": "data_scientist"}',
        PLUGINS=json.dumps([{"name": "dose", "file": "plugins/dose.py", "sha256": "0" * 64}]),
        SITE_NAME="B: [x]",
    )
    assert settings.unsafe_one_account_approval is True
    assert settings.connect_timeout_s == 2.5
    assert settings.allowed_hosts == ("127.0.0.1", "gpu1.example")
    assert [code.value for code in settings.alert_on] == ["job_failed", "disk_low"]
    assert settings.log_format == "json"
    assert settings.ca_bundle == path.parent / "keys/ca.pem"
    assert {name: role.value for name, role in settings.oidc_roles.items()} == {
        "data-science": "data_scientist"
    }
    assert settings.plugins[0].metric_name == "dose"
    assert settings.site_name == "B: [x]"


def test_a_file_gives_a_value_without_its_last_line_end(path: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text(f"http://user:{CANARY}@proxy.example:3128\n")
    settings = read(path, PROXY_FILE=str(secret))
    assert settings.proxy == f"http://user:{CANARY}@proxy.example:3128"


def test_the_path_of_a_secret_is_a_setting_of_its_own(path: Path, tmp_path: Path):
    settings = read(path, OIDC_CLIENT_SECRET_FILE=str(tmp_path / "x"))
    assert settings.oidc_client_secret_file == tmp_path / "x"
    assert name_file_variable("oidc_client_secret_file") == ""


def test_a_setting_that_is_given_twice_is_refused(path: Path, tmp_path: Path):
    said = fault(path, PROXY=CANARY, PROXY_FILE=str(tmp_path / CANARY))
    assert "INTRAMURAL_PROXY and INTRAMURAL_PROXY_FILE are both set" in said
    assert CANARY not in said


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MAX_IN_FLIGHT", CANARY, "environment: INTRAMURAL_MAX_IN_FLIGHT: expected a whole number"),
        ("LOG_LEVEL", CANARY, "environment: INTRAMURAL_LOG_LEVEL: expected "),
        ("OIDC_ROLES", CANARY, "INTRAMURAL_OIDC_ROLES: expected JSON"),
        ("OIDC_ROLES", f'{{"x": "{CANARY}"}}', "environment: INTRAMURAL_OIDC_ROLES.x: expected"),
        ("ALERT_ON", CANARY, "environment: INTRAMURAL_ALERT_ON.0: expected"),
        ("ALERT_ON", f"[{CANARY}]", "environment: INTRAMURAL_ALERT_ON.0: expected"),
        ("SERVICE_ORIGIN", CANARY, "INTRAMURAL_SERVICE_ORIGIN: expected an address without a path"),
        ("PLUGINS", f'[{{"name": "{CANARY}"}}]', "environment: INTRAMURAL_PLUGINS.0"),
        ("PLUGINS", "[" * 100_000, "INTRAMURAL_PLUGINS: expected JSON"),
        ("PROXY_FILE", f"/nowhere/{CANARY}", "INTRAMURAL_PROXY_FILE: the file that it names cannot"),
        ("PROXY_FILE", "/dev/zero", "INTRAMURAL_PROXY_FILE: the file that it names is not a regular"),
        ("PROXY_FILE", "/", "INTRAMURAL_PROXY_FILE: the file that it names cannot be read"),
    ],
)  # fmt: skip
def test_an_error_names_the_variable_and_quotes_nothing(
    path: Path, name: str, value: str, expected: str
):
    said = fault(path, **{name: value})
    assert expected in said
    assert CANARY not in said


def test_a_file_that_is_too_long_or_no_text_is_refused(path: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    for content, problem in ((b"x" * 100_000, "is too long"), (b"\xff\xfe", "is not UTF-8")):
        secret.write_bytes(content)
        said = fault(path, PROXY_FILE=str(secret))
        assert f"INTRAMURAL_PROXY_FILE: the file that it names {problem}" in said


def test_faults_of_the_file_and_of_the_environment_are_told_together(path: Path):
    with path.open("a") as file:
        file.write(f"colour: {CANARY}\n")
    said = fault(path, JOBS_AT_ONCE="0")
    assert "site.yaml: colour: unknown setting" in said
    assert "environment: INTRAMURAL_JOBS_AT_ONCE: " in said


def test_a_wrong_value_of_the_file_does_no_harm_if_the_environment_overrides_it(path: Path):
    path.write_text("site_name: A\nmax_in_flight: x\n")
    assert read(path, MAX_IN_FLIGHT="4").max_in_flight == 4


def test_a_misspelt_variable_is_found_and_those_of_others_are_not():
    environment = {
        "INTRAMURAL_MAX_INFLIGHT": "3",
        "INTRAMURAL_MAX_IN_FLIGHT": "3",
        "INTRAMURAL_PROXY_FILE": "/x",
        "INTRAMURAL_SITE": "/x",
        "INTRAMURAL_PORT": "tcp://10.0.0.1:8766",
        "INTRAMURAL_PORT_8766_TCP_ADDR": "10.0.0.1",
        "INTRAMURAL_BOARD_SERVICE_HOST": "10.0.0.1",
        "INTRAMURAL_OIDC_CLIENT_SECRET_FILE_FILE": "/x",
        "PATH": "/bin",
    }
    assert list(list_unknown(Settings.model_fields, environment)) == [
        "INTRAMURAL_MAX_INFLIGHT",
        "INTRAMURAL_OIDC_CLIENT_SECRET_FILE_FILE",
    ]


def test_what_kubernetes_sets_for_a_service_of_this_name_is_not_taken_for_settings(path: Path):
    links = {"SERVICE_HOST": "10.96.0.7", "SERVICE_PORT": "8766", "PORT": "tcp://10.96.0.7:8766"}
    said = fault(path, **links)
    assert "INTRAMURAL_SERVICE_HOST and INTRAMURAL_SERVICE_PORT" in said
    assert "enableServiceLinks: false" in said
    assert read(path, SERVICE_HOST="127.0.0.2", SERVICE_PORT="1").service_host == "127.0.0.2"
    assert read(path, PORT=links["PORT"]).service_port == 8766


def test_the_page_of_settings_does_not_change_what_the_environment_gives(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("INTRAMURAL_MAX_IN_FLIGHT", "5")
    assert find_variable("max_in_flight") == "INTRAMURAL_MAX_IN_FLIGHT"
    with pytest.raises(ConfigError, match="max_in_flight is given by the environment") as refused:
        change_setting(path, "max_in_flight", "7")
    assert "INTRAMURAL_MAX_IN_FLIGHT" in refused.value.advice
    assert "max_in_flight: 3" in path.read_text()
    assert change_setting(path, "max_attempts", "7").max_attempts == 7


def test_no_two_settings_share_a_variable():
    variables = [name_variable(name) for name in Settings.model_fields]
    variables += [name_file_variable(name) for name in Settings.model_fields]
    used = [variable for variable in variables if variable]
    assert len(set(used)) == len(used)


def test_nothing_of_the_tests_own_environment_is_a_setting():
    assert read_environment(list_shapes(), os.environ) == {}


def test_the_documents_list_every_variable_and_no_other():
    page = (ROOT / "docs/settings.md").read_text("utf-8").split("## From the environment")[1]
    rows = re.findall(r"^\| `(INTRAMURAL_\w+)` \| (?:`(INTRAMURAL_\w+)` )?\| (.+) \|$", page, re.MULTILINE)  # fmt: skip
    expected = [
        (name_variable(name), name_file_variable(name), WORDS[shape])
        for name, shape in list_shapes().items()
    ]
    assert rows == expected
