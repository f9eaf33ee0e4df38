"""The HTTP interface as its OpenAPI document describes it: no request that it allows or forbids breaks the service."""

import contextlib
import time

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

from agent.access.tokens import list_scopes
from agent.service.web.routes import API
from agent.store import Account
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import RunningService

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
EXAMPLES = 8  # for each operation


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_that_the_document_allows_or_forbids_breaks_the_service(
    filled: FilledSite, running: RunningService, people: dict[str, Account], mode: GenerationMode
):
    filled.add([case(0), case(1)])
    token = running.make_token(people["dana"], *list_scopes(people["dana"]))
    address = f"{running.origin}/api/v1/openapi.json"
    schema = schemathesis.openapi.from_url(address)
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
            case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {token}"})

        with contextlib.suppress(Unsatisfiable):  # nothing is forbidden where nothing is asked for
            ask()
            tried += 1
    assert tried >= (len(API) if mode is GenerationMode.POSITIVE else 2)


def test_the_document_lists_every_operation_with_its_refusals(running: RunningService):
    document = running.visit().get("/api/v1/openapi.json").json()
    for route in API:
        operation = document["paths"][f"/api/v1{route.path}"][route.method.lower()]
        assert {"200", "400", "401", "403", "404", "422"} <= set(operation["responses"])
        assert operation["summary"].strip()


def test_a_program_queues_watches_and_cancels_a_run(
    running: RunningService, people: dict[str, Account]
):
    token = running.make_token(people["dana"], *list_scopes(people["dana"]))
    client = running.visit().client
    client.headers["Authorization"] = f"Bearer {token}"
    body = {"arguments": ["rescore", "--suite", "november"], "title": "Friday's rescoring"}
    queued = client.post("/api/v1/jobs", json=body)
    assert queued.status_code == 200
    job = queued.json()
    assert (job["title"], job["state"]) == ("Friday's rescoring", "queued")
    assert job["queued"][:4] == time.strftime("%Y", time.gmtime())
    assert client.get(f"/api/v1/jobs/{job['job_id']}").json()["state"] == "queued"
    assert client.post(f"/api/v1/jobs/{job['job_id']}/cancel").json()["state"] == "cancelled"
    assert client.get("/api/v1/jobs/0123456789abcdef").status_code == 404


@pytest.mark.parametrize(
    "arguments",
    [
        ["purge", "--yes"],
        ["export", "--reveal"],
        ["run", "--queue"],
        ["run", "--conf-paths", "/etc/passwd"],
        ["run", "--run-entries", "pubmed_qa:model=a,data_path=/etc/passwd"],
        ["run", "--nonsense"],
        ["--site", "/tmp", "run"],
        ["jobs", "dispatch"],
    ],
)
def test_a_program_queues_nothing_that_is_not_meant_for_it(
    running: RunningService, people: dict[str, Account], arguments: list[str]
):
    token = running.make_token(people["dana"], *list_scopes(people["dana"]))
    headers = {"Authorization": f"Bearer {token}"}
    refused = running.visit().client.post(
        "/api/v1/jobs", json={"arguments": arguments}, headers=headers
    )
    assert refused.status_code == 400, refused.text
    with running.site.store() as store:
        assert store.jobs.list_open() == []
