"""Work is grouped by the servers that it needs, as far as their addresses show them."""

import pytest

from agent.inference.server_groups import group_by_server


@pytest.mark.parametrize(
    ("addresses", "groups"),
    [
        ([["http://a:1/v1"], ["http://b:1/v1"], ["http://a:1/v1"]], [[0, 2], [1]]),
        ([["http://a:1/v1"], ["http://a:2/v1"]], [[0], [1]]),
        ([["http://localhost:1/x"], ["http://127.0.0.1:1/y"]], [[0, 1]]),
        (
            [["http://a/"], ["http://b/"], ["http://b/", "http://a/"], ["http://c/"]],
            [[0, 1, 2], [3]],
        ),
        ([["http://a/"], ["http://b/"], ["http://c/", "http://a/"]], [[0, 2], [1]]),
        ([], []),
    ],
)
def test_work_on_a_common_server_is_in_one_group(
    addresses: list[list[str]], groups: list[list[int]]
):
    assert group_by_server(addresses) == groups
