"""A cluster that anybody may use, or listen to, gets no work."""

from pathlib import Path

import pytest

from agent.cluster.security import (
    check_encryption,
    check_token,
    is_loopback,
    is_private,
    parse_address,
)
from agent.errors import ConfigError


@pytest.mark.parametrize("address", ["host", "host:", ":6379", "ray://host:6379", "host:x"])
def test_what_is_no_address_is_refused(address: str):
    with pytest.raises(ConfigError, match="expected `cluster` or HOST:PORT"):
        parse_address(address)


def test_addresses_of_this_machine_and_of_others():
    assert parse_address("10.0.0.5:6379") == ("10.0.0.5", 6379)
    assert parse_address("[::1]:6379") == ("::1", 6379)
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("10.0.0.5")
    assert not is_loopback("127.0.0.1.example.org")


def test_a_cluster_is_not_joined_without_a_token_that_is_kept_from_others(tmp_path: Path):
    mode = {"RAY_AUTH_MODE": "token"}
    with pytest.raises(ConfigError, match="RAY_AUTH_MODE is not"):
        check_token({"RAY_AUTH_TOKEN": "secret"}, tmp_path)
    with pytest.raises(ConfigError, match="there is none"):
        check_token(mode, tmp_path)
    check_token({**mode, "RAY_AUTH_TOKEN": "secret"}, tmp_path)
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o644)
    with pytest.raises(ConfigError, match="open to other accounts"):
        check_token({**mode, "RAY_AUTH_TOKEN_PATH": str(token)}, tmp_path)
    token.chmod(0o600)
    check_token({**mode, "RAY_AUTH_TOKEN_PATH": str(token)}, tmp_path)


def test_another_machine_is_spoken_to_only_under_tls(tmp_path: Path):
    check_encryption("127.0.0.1", {})
    with pytest.raises(ConfigError, match="RAY_USE_TLS is not 1"):
        check_encryption("10.0.0.5", {})
    with pytest.raises(ConfigError, match="RAY_TLS_SERVER_CERT must name a file"):
        check_encryption("10.0.0.5", {"RAY_USE_TLS": "1"})
    certificate = tmp_path / "certificate"
    certificate.write_text("")
    names = ("RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
    check_encryption("10.0.0.5", {"RAY_USE_TLS": "1", **dict.fromkeys(names, str(certificate))})


def test_a_folder_is_private_if_it_or_one_above_it_is_closed(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    inner = closed / "inner"
    inner.mkdir()
    inner.chmod(0o777)
    assert is_private(inner)
    assert not is_private(Path("/usr/lib"))
