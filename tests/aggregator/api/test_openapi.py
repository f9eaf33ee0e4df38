"""The API as its OpenAPI page describes it: bodies, every error, and no request that breaks it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from aggregator.api.app import make_app
from aggregator.home import Home
from protocol.errors import Code
from tests.aggregator.conftest import Served
from tests.aggregator.federation import new_home, ready, registry_of, scores, submit

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
EXAMPLES = 8  # for each operation


@pytest.fixture(scope="module")
def busy_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = new_home(tmp_path_factory.mktemp("busy") / "aggregator")
    site = ready(made)
    submit(made, site, site.result(registry_of(made), scores(1)))
    made.settings = made.settings.model_copy(update={"requests_per_minute": 0})
    yield made
    made.database.close()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_that_the_page_allows_or_forbids_breaks_the_service(
    busy_home: Home, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", make_app(busy_home))
    tried = 0
    for operation in schema.get_all_operations():

        @given(case=operation.ok().as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def ask(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS)

        with contextlib.suppress(
            Unsatisfiable
        ):  # an operation without parameters has no forbidden ones
            ask()
            tried += 1
    assert tried >= (12 if mode is GenerationMode.POSITIVE else 8)


@pytest.fixture
def page(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = served.get("/v1/openapi.json").json()
    return found


def test_every_code_of_a_refused_statement_is_on_the_page(page: dict[str, Any]) -> None:
    responses = page["paths"]["/v1/submissions"]["post"]["responses"]
    documented: set[str] = set()
    for status, response in responses.items():
        if status != "200":
            documented |= set(
                response["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
            )
    assert {code.value for code in Code} <= documented
    assert {"overloaded", "unavailable", "too_many_requests", "internal"} <= documented


def test_every_route_that_takes_a_body_says_which(page: dict[str, Any]) -> None:
    posts = [path["post"] for path in page["paths"].values() if "post" in path]
    assert len(posts) >= 4
    assert [post for post in posts if not post.get("requestBody", {}).get("required")] == []


def test_errors_are_documented_as_they_are_answered(page: dict[str, Any]) -> None:
    for path, operations in page["paths"].items():
        for operation in operations.values():
            assert "HTTPValidationError" not in str(operation), path
            if path.startswith("/v1"):
                assert {"429", "500", "503"} <= set(operation["responses"]), path


def test_the_page_needs_nothing_from_elsewhere(page: dict[str, Any], tmp_path: Path) -> None:
    assert "http://" not in str(page)
    assert "https://" not in str(page)
