"""Sites with a queue."""

from collections.abc import Callable, Iterator

import pytest

from tests.agent.jobs.queued_site import QueuedSite, open_queue
from tests.end_to_end.conftest import UserSite, make_site

__all__ = ["make_site", "queue"]


@pytest.fixture
def queue(make_site: Callable[..., UserSite]) -> Iterator[QueuedSite]:
    with open_queue(make_site(instances=40)) as queued:
        yield queued
