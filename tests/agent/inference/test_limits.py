"""Limits under which nothing could be asked are refused."""

import pytest

from agent.inference.limits import HttpLimits


def test_limits_under_which_nothing_could_be_asked_are_refused():
    with pytest.raises(ValueError, match="max_attempts"):
        HttpLimits(max_attempts=0)
