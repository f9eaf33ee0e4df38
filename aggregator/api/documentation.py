"""What the OpenAPI page says beyond the routes' own signatures: bodies, media types, and every error with its codes.

Errors are documented as they are answered (`answers.py`, `turnstile.py`); a test compares the two.
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
"""Codes of refusals that are about the request or the service and not about a statement."""

_MEANING = {
    HTTPStatus.BAD_REQUEST: "The request cannot be read: a parameter, the size, the bytes or the form of the body.",
    HTTPStatus.FORBIDDEN: "No enrolled keys have signed this.",
    HTTPStatus.NOT_FOUND: "There is no such thing.",
    HTTPStatus.CONFLICT: "The statement does not fit into its site's chain.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The statement is refused.",
    HTTPStatus.TOO_MANY_REQUESTS: "This client asks too often, or enough of its site was kept today. See Retry-After.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "A fault of the service.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The service cannot answer now. See Retry-After.",
}


class EnvelopeResponse(Response):
    """A DSSE envelope."""

    media_type = ENVELOPE_MEDIA_TYPE


class LinesResponse(Response):
    """One JSON object on a line."""

    media_type = LINES_MEDIA_TYPE


class MetricsResponse(Response):
    """A page in the text format of Prometheus."""

    media_type = "text/plain; version=0.0.4; charset=utf-8"


def describe_refusals(*statuses: HTTPStatus, statement: bool = False) -> Responses:
    """Return the documentation of refusals.

    Args:
        statuses: of the route; those that every route may answer are added by the application.
        statement: whether the route takes a signed statement, so that every code of the protocol may come.
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
    """Return the documentation of the refusals that every route may answer."""
    everywhere = (
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
    return describe_refusals(*everywhere)


def describe_envelope() -> Responses:
    """Return the documentation of an answer that is a DSSE envelope."""
    content = {ENVELOPE_MEDIA_TYPE: {"schema": _ENVELOPE_SCHEMA}}
    return {int(HTTPStatus.OK): {"description": "The version as signed.", "content": content}}


def describe_unchanged() -> Responses:
    """Return the documentation of the answer to a client that names the entity tag of what it holds."""
    return {
        int(HTTPStatus.NOT_MODIFIED): {
            "description": "If-None-Match names this version; there is no body."
        }
    }


def describe_body(media_type: str, about: str) -> dict[str, Any]:
    """Return the documentation of a request's body, which the routes read as bytes."""
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
    """Make the page say 400 `malformed` where the framework's own page says 422 for wrong parameters."""
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
            "description": "Note signed by the receipt key, where the site's two keys have signed the statement.",
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
