"""OpenAPI documentation that the routes' signatures do not provide: bodies, media types, and errors with their codes.

The documented errors match the actual responses (`answers.py`, `turnstile.py`), which a test
ensures.
"""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response

from aggregator.api.answers import ENVELOPE_MEDIA_TYPE, LINES_MEDIA_TYPE, STATUS_OF_CODE
from protocol.errors import Code

Responses = dict[int | str, dict[str, Any]]

SERVICE_CODES = {
    HTTPStatus.BAD_REQUEST: ("malformed",),
    HTTPStatus.FORBIDDEN: ("unknown_key",),
    HTTPStatus.NOT_FOUND: ("not_found",),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed",),
    HTTPStatus.TOO_MANY_REQUESTS: ("too_many_requests",),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("internal",),
    HTTPStatus.SERVICE_UNAVAILABLE: ("overloaded", "unavailable", "registry_expired"),
}
"""Codes of refusals that concern the request or the service, not a statement."""

_MEANING = {
    HTTPStatus.BAD_REQUEST: "The request is malformed: a parameter, or the size, encoding or format of the body.",
    HTTPStatus.FORBIDDEN: "The request is not signed by enrolled keys.",
    HTTPStatus.NOT_FOUND: "The requested item does not exist.",
    HTTPStatus.CONFLICT: "The statement does not fit into its site's chain.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The statement is refused.",
    HTTPStatus.TOO_MANY_REQUESTS: (
        "This client sends too many requests, or its site has used up today's allowance. See Retry-After."
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: "An internal error of the service.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The service is temporarily unavailable. See Retry-After.",
}


class EnvelopeResponse(Response):
    """A DSSE envelope."""

    media_type = ENVELOPE_MEDIA_TYPE


class LinesResponse(Response):
    """One JSON object per line."""

    media_type = LINES_MEDIA_TYPE


class MetricsResponse(Response):
    """Metrics in the Prometheus text format."""

    media_type = "text/plain; version=0.0.4; charset=utf-8"


def describe_refusals(*statuses: HTTPStatus, statement: bool = False) -> Responses:
    """Return the documentation of refusals.

    Args:
        statuses: HTTP statuses of the route's refusals. The application adds those common to all routes.
        statement: Whether the route accepts a signed statement, so that any protocol code may
            occur.
    """
    wanted = set(statuses)
    if statement:
        wanted |= {
            HTTPStatus.BAD_REQUEST,
            *STATUS_OF_CODE.values(),
            HTTPStatus.UNPROCESSABLE_ENTITY,
        }
    return {int(status): _describe(status, statement=statement) for status in sorted(wanted)}


def describe_everywhere() -> Responses:
    """Return the documentation of the refusals common to all routes."""
    everywhere = (
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
    return describe_refusals(*everywhere)


def describe_envelope() -> Responses:
    """Return the documentation of a response that is a DSSE envelope."""
    content = {ENVELOPE_MEDIA_TYPE: {"schema": _ENVELOPE_SCHEMA}}
    return {
        int(HTTPStatus.OK): {"description": "The registry version, as signed.", "content": content}
    }


def describe_unchanged() -> Responses:
    """Return the documentation of the response for a client that already has the current version."""
    return {
        int(HTTPStatus.NOT_MODIFIED): {
            "description": "If-None-Match names this version. The response has no body."
        }
    }


def describe_body(media_type: str, about: str) -> dict[str, Any]:
    """Return the documentation of a request body, which the routes read as bytes."""
    schema: dict[str, Any] = {"type": "string", "description": about}
    if media_type == ENVELOPE_MEDIA_TYPE:
        schema = _ENVELOPE_SCHEMA
    return {
        "requestBody": {
            "required": True,
            "description": about,
            "content": {media_type: {"schema": schema}},
        }
    }


def correct_openapi(app: FastAPI) -> None:
    """Document 400 `malformed` for invalid parameters instead of the framework's 422."""
    make_page = app.openapi

    def openapi() -> dict[str, Any]:
        page = make_page()
        for path in page["paths"].values():
            for operation in path.values():
                _correct_operation(operation["responses"])
        page.get("components", {}).pop("schemas", None)
        return page

    app.openapi = openapi  # type: ignore[method-assign]


def _correct_operation(responses: dict[str, Any]) -> None:
    generated = (
        responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    )
    if "$ref" in generated:
        del responses["422"]
        responses.setdefault("400", _describe(HTTPStatus.BAD_REQUEST, statement=False))


def _describe(status: HTTPStatus, *, statement: bool) -> dict[str, Any]:
    codes = set(SERVICE_CODES.get(status, ()))
    if statement:
        codes |= {
            code.value
            for code in Code
            if STATUS_OF_CODE.get(code, HTTPStatus.UNPROCESSABLE_ENTITY) is status
        }
    properties: dict[str, Any] = {"code": {"type": "string", "enum": sorted(codes)}}
    if statement and status in {HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}:
        properties["refusal"] = {
            "type": "string",
            "description": "Note signed by the receipt key, if both of the site's keys have signed the statement.",
        }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["code"],
        "additionalProperties": False,
    }
    return {"description": _MEANING[status], "content": {"application/json": {"schema": schema}}}


_ENVELOPE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "DSSE envelope of at most 64 KiB; base64 in its standard alphabet, padded.",
    "properties": {
        "payloadType": {"type": "string"},
        "payload": {"type": "string"},
        "signatures": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "keyid": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                    "sig": {"type": "string"},
                },
                "required": ["keyid", "sig"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["payloadType", "payload", "signatures"],
    "additionalProperties": False,
}
