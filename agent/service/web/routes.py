"""The one table of what the service answers: each route with the action that its caller must be allowed to take.

A route without an action is open to everyone. Tests go through this table with every role; no route exists outside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel
from starlette.responses import Response

from agent.access.roles import Action
from agent.service.web import (
    account_pages,
    api,
    approval_pages,
    audit_pages,
    benchmark_pages,
    calibration_pages,
    catalog_pages,
    declaration_pages,
    download_pages,
    drafting_pages,
    federation_pages,
    job_pages,
    key_request_pages,
    model_pages,
    new_run,
    outbox_pages,
    outside_sign_in,
    rating_pages,
    receipt_pages,
    redaction_pages,
    registration_pages,
    reset_pages,
    results,
    rotation_pages,
    run_pages,
    schedule_pages,
    scripts,
    search_pages,
    sending_pages,
    sign_in_pages,
    site_pages,
    slow_work,
    start_page,
    style_sheets,
    watcher_pages,
    work_pages,
)
from agent.service.web.call import Call
from agent.service.web.local_paths import NEW_PASSWORD
from agent.service.web.service import Desk, Service

Owner = Callable[[Desk, Call], str | None]


@dataclass(frozen=True, slots=True)
class Route:
    """One page, or one form of it.

    Attributes:
        method: "GET" reads, "POST" changes something and needs the secret of the session's forms.
        path: the path, with names of values in braces.
        action: what the caller must be allowed to do; None if nobody need be signed in.
        handler: answers the request.
        find_owner: finds the account that owns what is meant, for roles that may do this with their own only; None if
            nothing with an owner is meant, or the handler shows what is the caller's own.
        takes_upload: whether its form may carry a large file, which goes to the disk as it arrives.
        is_slow: whether it may take minutes, so that it goes on without the request after some seconds.
        with_first_password: whether it is open to someone whose password somebody else chose.
        is_for_programs: whether API tokens open it, under any name of the machine, and whoever may not enter is told so
            by a status and JSON.
    """

    method: Literal["GET", "POST"]
    path: str
    action: Action | None
    handler: Callable[[Desk, Call], Response]
    find_owner: Owner | None = None
    takes_upload: bool = False
    is_slow: bool = False
    with_first_password: bool = False
    is_for_programs: bool = False


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One operation of the HTTP interface under /api/v1.

    Attributes:
        method, path, action, find_owner: as in `Route`; the path begins after /api/v1.
        handler: returns an object of the type `answer`; with `body`, it takes the parsed body as its last argument.
        answer: type of the answer, for the OpenAPI document.
        body: type of the request's JSON body, if it has one.
        query: optional fields of the query with their types and defaults.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    action: Action
    handler: Callable[..., Any]
    answer: Any
    body: type[BaseModel] | None = None
    query: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    find_owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """A path at which a supervisor asks whether the service is well.

    Everyone may ask it, at any name of the machine, and without the store.

    Attributes:
        path: the path.
        handler: answers the request.
    """

    path: str
    handler: Callable[[Service], Response]


PROBES: tuple[Probe, ...] = (
    Probe("/healthz", watcher_pages.show_life),
    Probe("/readyz", watcher_pages.show_readiness),
)

PAGES: tuple[Route, ...] = (
    Route("GET", "/style.css", None, style_sheets.show_style),
    Route("GET", "/service.css", None, style_sheets.show_service_style),
    Route("GET", "/favicon.ico", None, style_sheets.show_icon),
    Route("GET", "/icon.svg", None, style_sheets.show_drawn_icon),
    Route("GET", "/sign-in", None, sign_in_pages.show_sign_in),
    Route("POST", "/sign-in", None, sign_in_pages.sign_in),
    Route("GET", "/sign-in/provider", None, outside_sign_in.go_to_provider),
    Route("GET", outside_sign_in.RETURN_PATH, None, outside_sign_in.come_from_provider),
    Route(
        "POST",
        "/sign-out",
        Action.MANAGE_OWN_ACCOUNT,
        sign_in_pages.sign_out,
        with_first_password=True,
    ),
    Route("GET", "/", Action.VIEW_BOARDS, start_page.show_start),
    Route("GET", "/results/{path:path}", Action.VIEW_BOARDS, results.show_results),
    Route("POST", "/reveal/{path:path}", Action.REVEAL, results.reveal),
    Route("POST", "/search/{run_id}", Action.VIEW_INSTANCES, search_pages.search),
    Route("GET", "/scores/{run_id}", Action.VIEW_INSTANCES, search_pages.list_by_score),
    Route("GET", download_pages.PATH, Action.EXPORT_TABLES, download_pages.show_downloads),
    Route("POST", download_pages.PATH, Action.EXPORT_TABLES, download_pages.download),
    Route(
        "POST",
        "/runs/{run_id}/privacy",
        Action.VIEW_PRIVATE_RUNS,
        run_pages.change_privacy,
        run_pages.find_owner,
    ),
    Route(
        "GET",
        "/runs/{run_id}/delete",
        Action.DELETE_RUNS,
        run_pages.ask_to_delete,
        run_pages.find_owner,
    ),
    Route(
        "POST", "/runs/{run_id}/delete", Action.DELETE_RUNS, run_pages.delete, run_pages.find_owner
    ),
    Route("GET", "/progress.js", Action.VIEW_JOBS, scripts.show_progress_script),
    Route("GET", "/jobs", Action.VIEW_JOBS, job_pages.list_jobs),
    Route("GET", schedule_pages.SCHEDULES, Action.VIEW_JOBS, schedule_pages.list_schedules),
    Route(
        "POST",
        schedule_pages.SCHEDULES + "/{schedule_id}/end",
        Action.CHANGE_JOBS,
        schedule_pages.end_schedule,
        schedule_pages.find_owner,
    ),
    Route("GET", "/jobs/{job_id}", Action.VIEW_JOBS, job_pages.show_job),
    Route(
        "POST", "/jobs/{job_id}/cancel", Action.CHANGE_JOBS, job_pages.cancel, job_pages.find_owner
    ),
    Route(
        "POST",
        "/jobs/{job_id}/first",
        Action.CHANGE_JOBS,
        job_pages.move_first,
        job_pages.find_owner,
    ),
    Route(
        "POST", "/jobs/{job_id}/last", Action.CHANGE_JOBS, job_pages.move_last, job_pages.find_owner
    ),
    Route(
        "GET", "/jobs/{job_id}/log", Action.CHANGE_JOBS, job_pages.show_log, job_pages.find_owner
    ),
    Route(
        "POST", "/jobs/{job_id}/retry", Action.CHANGE_JOBS, job_pages.retry, job_pages.find_owner
    ),
    Route(
        "POST",
        "/jobs/{job_id}/repeat",
        Action.CHANGE_JOBS,
        schedule_pages.repeat_job,
        job_pages.find_owner,
    ),
    Route("GET", "/new-run", Action.QUEUE_JOBS, new_run.show_form),
    Route("POST", "/new-run", Action.QUEUE_JOBS, new_run.answer_form),
    Route("GET", "/benchmarks", Action.VIEW_DATA, catalog_pages.list_benchmarks),
    Route("GET", benchmark_pages.PATH, Action.VIEW_DATA, benchmark_pages.show_benchmark),
    Route(
        "POST",
        benchmark_pages.PATH + "/data",
        Action.ADD_DATA,
        benchmark_pages.add_file,
        takes_upload=True,
    ),
    Route("POST", benchmark_pages.PATH + "/fetch", Action.ADD_DATA, benchmark_pages.fetch),
    Route(
        "POST",
        benchmark_pages.PATH + "/check",
        Action.ADD_DATA,
        benchmark_pages.check_again,
        is_slow=True,
    ),
    Route("GET", benchmark_pages.PATH + "/remove", Action.ADD_DATA, benchmark_pages.ask_to_remove),
    Route("POST", benchmark_pages.PATH + "/remove", Action.ADD_DATA, benchmark_pages.remove),
    Route("GET", "/models", Action.VIEW_MODELS, model_pages.list_models),
    Route("GET", model_pages.PATH, Action.VIEW_MODELS, model_pages.show_model),
    Route("POST", model_pages.PATH, Action.PROBE_MODELS, model_pages.probe, is_slow=True),
    Route("GET", "/rating", Action.RATE_ANSWERS, rating_pages.list_calibrations),
    Route("GET", "/rating/new", Action.QUEUE_JOBS, calibration_pages.show_form),
    Route("POST", "/rating/new", Action.QUEUE_JOBS, calibration_pages.make),
    Route("GET", "/rating/of/{name}", Action.RATE_ANSWERS, rating_pages.show_calibration),
    Route("POST", "/rating/of/{name}/begin", Action.RATE_ANSWERS, rating_pages.begin),
    Route("GET", "/rating/of/{name}/items/{item}", Action.RATE_ANSWERS, rating_pages.show_item),
    Route("POST", "/rating/of/{name}/items/{item}", Action.RATE_ANSWERS, rating_pages.save_item),
    Route("GET", "/rating/of/{name}/finish", Action.RATE_ANSWERS, rating_pages.ask_to_finish),
    Route("POST", "/rating/of/{name}/finish", Action.RATE_ANSWERS, rating_pages.finish),
    Route("GET", "/rating/of/{name}/delete", Action.QUEUE_JOBS, calibration_pages.ask_to_delete),
    Route("POST", "/rating/of/{name}/delete", Action.QUEUE_JOBS, calibration_pages.delete),
    Route("GET", "/redaction", Action.REVIEW_REDACTION, redaction_pages.list_reviews),
    Route("GET", "/redaction.js", Action.REVIEW_REDACTION, scripts.show_selection_script),
    Route("GET", "/redaction/new", Action.REVIEW_REDACTION, redaction_pages.show_form),
    Route("POST", "/redaction/new", Action.REVIEW_REDACTION, redaction_pages.make),
    Route("GET", "/redaction/of/{name}", Action.REVIEW_REDACTION, redaction_pages.show_review),
    Route(
        "GET",
        "/redaction/of/{name}/records/{record}",
        Action.REVIEW_REDACTION,
        redaction_pages.show_record,
    ),
    Route(
        "POST",
        "/redaction/of/{name}/records/{record}",
        Action.REVIEW_REDACTION,
        redaction_pages.mark,
    ),
    Route(
        "POST",
        "/redaction/of/{name}/marks",
        Action.REVIEW_REDACTION,
        redaction_pages.download_marks,
    ),
    Route(
        "GET",
        "/redaction/of/{name}/delete",
        Action.REVIEW_REDACTION,
        redaction_pages.ask_to_delete,
    ),
    Route("POST", "/redaction/of/{name}/delete", Action.REVIEW_REDACTION, redaction_pages.delete),
    Route("GET", "/outbox", Action.VIEW_OUTBOX, outbox_pages.list_outbox),
    Route("GET", "/outbox/request", Action.APPROVE_SUBMISSIONS, approval_pages.download_request),
    Route("POST", "/outbox/decision", Action.APPROVE_SUBMISSIONS, approval_pages.take_decision),
    Route(
        "GET",
        "/outbox/prepare",
        Action.PREPARE_SUBMISSIONS,
        drafting_pages.show_form,
        is_slow=True,
    ),
    Route(
        "POST", "/outbox/prepare", Action.PREPARE_SUBMISSIONS, drafting_pages.draft, is_slow=True
    ),
    Route("GET", "/outbox/plan", Action.PREPARE_SUBMISSIONS, declaration_pages.show_plan_form),
    Route("POST", "/outbox/plan", Action.PREPARE_SUBMISSIONS, declaration_pages.draft_plan),
    Route("GET", "/outbox/datasets", Action.ADD_DATA, registration_pages.list_datasets),
    Route(
        "GET", "/outbox/datasets/{benchmark}", Action.ADD_DATA, registration_pages.ask, is_slow=True
    ),
    Route(
        "POST",
        "/outbox/datasets/{benchmark}",
        Action.ADD_DATA,
        registration_pages.register,
        is_slow=True,
    ),
    Route("POST", "/outbox/send", Action.SEND_SUBMISSIONS, sending_pages.send_approved),
    Route(
        "GET",
        "/outbox/requests/{kind}",
        Action.APPROVE_SUBMISSIONS,
        key_request_pages.show_request,
    ),
    Route(
        "GET",
        "/outbox/requests/{kind}/file",
        Action.APPROVE_SUBMISSIONS,
        key_request_pages.download_request,
    ),
    Route("POST", "/outbox/requests/{kind}", Action.APPROVE_SUBMISSIONS, key_request_pages.hand_in),
    Route("GET", "/outbox/{digest}", Action.VIEW_OUTBOX, outbox_pages.show_submission),
    Route("POST", "/outbox/{digest}/reject", Action.APPROVE_SUBMISSIONS, approval_pages.reject),
    Route(
        "POST",
        "/outbox/{digest}/discard",
        Action.PREPARE_SUBMISSIONS,
        declaration_pages.discard_draft,
    ),
    Route(
        "POST", "/outbox/{digest}/withdraw", Action.PREPARE_SUBMISSIONS, declaration_pages.withdraw
    ),
    Route(
        "POST", "/outbox/{digest}/abandon", Action.PREPARE_SUBMISSIONS, declaration_pages.abandon
    ),
    Route("GET", "/receipts", Action.VIEW_RECEIPTS, receipt_pages.list_receipts),
    Route("GET", "/receipts/ledger", Action.VIEW_RECEIPTS, receipt_pages.show_ledger),
    Route("GET", "/receipts/{digest}", Action.VIEW_RECEIPTS, receipt_pages.show_receipt),
    Route("GET", "/receipts/{digest}/file", Action.VIEW_RECEIPTS, receipt_pages.download_receipt),
    Route("GET", "/federation", Action.MANAGE_KEYS, federation_pages.show_federation),
    Route("POST", "/federation/registry", Action.MANAGE_KEYS, federation_pages.update),
    Route("GET", "/federation/rotate", Action.MANAGE_KEYS, rotation_pages.show_rotation_form),
    Route("POST", "/federation/rotate", Action.MANAGE_KEYS, rotation_pages.request_rotation),
    Route("POST", "/federation/rotate/cancel", Action.MANAGE_KEYS, rotation_pages.cancel),
    Route("GET", "/federation/reset", Action.MANAGE_KEYS, reset_pages.show_reset_form),
    Route("POST", "/federation/reset", Action.MANAGE_KEYS, reset_pages.answer_reset_form),
    Route("GET", "/federation/requests/{kind}", Action.MANAGE_KEYS, key_request_pages.show_request),
    Route(
        "GET",
        "/federation/requests/{kind}/file",
        Action.MANAGE_KEYS,
        key_request_pages.download_request,
    ),
    Route(
        "GET",
        "/metrics",
        Action.VIEW_METRICS,
        watcher_pages.show_metrics,
        is_for_programs=True,
    ),
    Route("GET", site_pages.HEALTH, Action.VIEW_HEALTH, site_pages.show_health),
    Route("POST", site_pages.HEALTH, Action.VIEW_HEALTH, site_pages.check_health),
    Route("GET", site_pages.SETTINGS, Action.CHANGE_SETTINGS, site_pages.show_settings),
    Route("POST", site_pages.SETTINGS, Action.CHANGE_SETTINGS, site_pages.change),
    Route("GET", "/accounts", Action.MANAGE_ACCOUNTS, account_pages.list_accounts),
    Route("POST", "/accounts", Action.MANAGE_ACCOUNTS, account_pages.add),
    Route("GET", "/accounts/{account_id}", Action.MANAGE_ACCOUNTS, account_pages.show_account),
    Route("POST", "/accounts/{account_id}", Action.MANAGE_ACCOUNTS, account_pages.change),
    Route("GET", "/account", Action.MANAGE_OWN_ACCOUNT, account_pages.show_own),
    Route(
        "GET",
        NEW_PASSWORD,
        Action.MANAGE_OWN_ACCOUNT,
        account_pages.show_new_password,
        with_first_password=True,
    ),
    Route(
        "POST",
        "/account/password",
        Action.MANAGE_OWN_ACCOUNT,
        account_pages.set_own_password,
        with_first_password=True,
    ),
    Route("POST", "/account/sessions", Action.MANAGE_OWN_ACCOUNT, account_pages.end_own_sessions),
    Route("POST", "/account/tokens", Action.MANAGE_OWN_ACCOUNT, account_pages.make_own_token),
    Route(
        "POST",
        "/account/tokens/{token_id}/revoke",
        Action.MANAGE_OWN_ACCOUNT,
        account_pages.revoke_own_token,
    ),
    Route("GET", "/audit", Action.VIEW_AUDIT, audit_pages.show_audit),
    Route("POST", "/audit/verify", Action.VIEW_AUDIT, audit_pages.verify, is_slow=True),
    Route("GET", slow_work.PATH, Action.MANAGE_OWN_ACCOUNT, work_pages.show_work),
)

API: tuple[ApiRoute, ...] = (
    ApiRoute("GET", "/me", Action.VIEW_BOARDS, api.show_me, api.Me),
    ApiRoute(
        "GET", "/benchmarks", Action.VIEW_DATA, api.list_benchmarks, list[api.BenchmarkAnswer]
    ),
    ApiRoute(
        "GET", "/deployments", Action.VIEW_MODELS, api.list_deployments, list[api.DeploymentLine]
    ),
    ApiRoute(
        "GET",
        "/runs",
        Action.VIEW_RUNS,
        api.list_runs,
        list[api.RunAnswer],
        query={"suite": (str, "")},
    ),
    ApiRoute(
        "GET",
        "/runs/{run_id}/instances",
        Action.VIEW_INSTANCES,
        api.list_instances,
        api.InstanceList,
        query={
            "outcome": (api.OutcomeName, "all"),
            "min_score": (api.Bound, None),
            "max_score": (api.Bound, None),
            "page": (api.PageNumber, 1),
        },
    ),
    ApiRoute("GET", "/jobs", Action.VIEW_JOBS, api.list_jobs, list[api.JobLine]),
    ApiRoute("POST", "/jobs", Action.QUEUE_JOBS, api.queue_job, api.JobLine, body=api.NewJob),
    ApiRoute("GET", "/jobs/{job_id}", Action.VIEW_JOBS, api.show_job, api.JobLine),
    ApiRoute(
        "POST",
        "/jobs/{job_id}/cancel",
        Action.CHANGE_JOBS,
        api.cancel_job,
        api.JobLine,
        find_owner=job_pages.find_owner,
    ),
)
