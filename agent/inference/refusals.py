"""Say why a server cannot be used: its address, what it said about the probe's question, and the setting to change."""

from collections.abc import Mapping
from typing import NoReturn

from agent.errors import InferenceError
from agent.inference.catalogue import Catalogue
from agent.inference.connection import Obstacle
from agent.inference.endpoint import (
    Endpoint,
    describe_server,
    is_named_by_address,
    read_token,
)
from agent.inference.findings import ProbeReply
from agent.io.outgoing_faults import EARLY_CERTIFICATE, EXPIRED_CERTIFICATE, OTHER_NAME
from agent.io.wording import nearest

# Statuses with which servers refuse the model or a parameter. The text of others is not repeated: a traceback or a page
# of a proxy may contain the request of somebody else.
_TELLING_STATUSES = frozenset({400, 404, 422})
_MAX_SAID = 300  # characters of a server's message
_OBSTACLES: Mapping[Obstacle, tuple[str, str]] = {
    "refused": (
        "refuses connections",
        "Start the server, or correct host and port in {address_setting}.",
    ),
    "timeout": (
        "does not accept connections in time",
        "Check the network between this machine and the server, and host and port in {address_setting}.",
    ),
    "name": ("has an unknown host name", "Correct the host in {address_setting}."),
    "tls": (
        "has a certificate that is not trusted, or does not use TLS",
        "Set ca_bundle {place} to your certificate authority, or correct {address_setting}.",
    ),
    "expired": (
        f"has a certificate that is not accepted: {EXPIRED_CERTIFICATE.problem}",
        EXPIRED_CERTIFICATE.advice,
    ),
    "early": (
        f"has a certificate that is not accepted: {EARLY_CERTIFICATE.problem}",
        EARLY_CERTIFICATE.advice,
    ),
    "other name": (
        f"has a certificate that is not accepted: {OTHER_NAME.problem}",
        "Write the name that the certificate is for in {address_setting}, or ask the server's administrators for "
        "one with this name.",
    ),
    "proxy": (
        "cannot be reached because the proxy refused the connection",
        "Check the setting proxy {place}.",
    ),
    "proxy login": (
        "cannot be reached because the proxy demands a user name and password, or does not accept those given",
        "Write http://USER:PASSWORD@HOST:PORT as the setting proxy {place}, with special characters as in a URL "
        "(%40 for @).",
    ),
}


def describe_address_setting(endpoint: Endpoint) -> str:
    """Return the setting that contains the server's address."""
    if is_named_by_address(endpoint):
        return "--server"
    key = "base_urls" if endpoint.replicas else "base_url"
    return f"{key} of deployment {endpoint.name} in model_deployments.yaml"


def _describe_place(endpoint: Endpoint) -> str:
    """Return where the other settings of the connection are."""
    if is_named_by_address(endpoint):
        return "in site.yaml, or name the server in model_deployments.yaml with its own"
    return f"of deployment {endpoint.name} in model_deployments.yaml"


def refuse_unusable(
    endpoint: Endpoint,
    model: str,
    plain: ProbeReply,
    stranger: ProbeReply,
    catalogue: Catalogue,
) -> None:
    """Raise an error if the plain question was not answered, or if the answer may come from another model.

    Args:
        endpoint: the server and its model.
        model: the name by which the model was requested.
        plain: the reply to the plain question.
        stranger: the reply to a question for a model that does not exist.
        catalogue: the models that the server lists.

    Raises:
        InferenceError: the server cannot be used.
    """
    if plain.status is None:
        _refuse_silent(endpoint, plain)
    who = describe_server(endpoint)
    address_setting = describe_address_setting(endpoint)
    status = plain.status
    said = _quote_server(endpoint, plain)
    if status in (401, 403):
        raise InferenceError(
            f"{who} refuses the bearer token (HTTP {status})", _advise_on_token(endpoint)
        )
    if status == 407:
        problem, advice = _OBSTACLES["proxy login"]
        raise InferenceError(f"{who} {problem}", advice.format(place=_describe_place(endpoint)))
    if 300 <= status < 400:
        raise InferenceError(
            f"{who} redirects to another address (HTTP {status})",
            f"Set {address_setting} to the final address. Redirects are not followed, so that prompts are only sent"
            " to the configured address.",
        )
    # A server that accepts any name would otherwise answer with another model.
    if (
        catalogue.listed
        and model not in catalogue.names
        and (status != 200 or stranger.status == 200)
    ):
        raise InferenceError(
            f"{who} does not serve a model named {model}{nearest(model, catalogue.names)}{said}",
            f"{catalogue.offer()} {_advise_on_name(endpoint)}",
        )
    if status == 404:
        raise InferenceError(
            f"{who} offers no chat completions for the model {model} (HTTP 404){said}",
            f"The address in {address_setting} should end with /v1, and the model's name must be the server's own.",
        )
    if status != 200:
        advice = "Check the server's own log."
        if said:
            advice = f"If the model's name is wrong, correct {describe_model_setting(endpoint)}."
        raise InferenceError(
            f"{who} fails to answer a simple question (HTTP {status}){said}", advice
        )
    if not plain.understood:
        raise InferenceError(
            f"{who} does not reply like an OpenAI-compatible server",
            f"Correct {address_setting}; it should end with /v1.",
        )


def describe_model_setting(endpoint: Endpoint) -> str:
    """Return the setting that contains the name by which the model is requested."""
    if is_named_by_address(endpoint):
        return "model= in the run entry"
    return f"{endpoint.served_model_key} of deployment {endpoint.name}"


def _advise_on_name(endpoint: Endpoint) -> str:
    if is_named_by_address(endpoint):
        return "Write its name as model= in the run entry, or as --model of `doctor`."
    return f"Write its name as `{endpoint.served_model_key}: NAME` into the args of deployment {endpoint.name}."


def _refuse_silent(endpoint: Endpoint, plain: ProbeReply) -> NoReturn:
    """Raise the error for a server that sent no complete reply."""
    who = describe_server(endpoint)
    if plain.obstacle is not None:
        problem, advice = _OBSTACLES[plain.obstacle]
        advice = advice.format(
            address_setting=describe_address_setting(endpoint), place=_describe_place(endpoint)
        )
        raise InferenceError(f"{who} {problem}", advice)
    if plain.hung:
        raise InferenceError(
            f"{who} accepted the request but did not answer in time", "Check the server's own log."
        )
    raise InferenceError(
        f"{who} accepted the connection but sent no complete reply", "Check the server's own log."
    )


def _advise_on_token(endpoint: Endpoint) -> str:
    if is_named_by_address(endpoint):
        return (
            "Add the server to model_deployments.yaml with a token_file: --server sends no token."
        )
    return f"Put the right token into token_file of deployment {endpoint.name}."


def explain_refusals(endpoint: Endpoint, status: int, plain: ProbeReply) -> str:
    """Return a sentence about questions of a run that the server refused, without any word of its replies to them.

    Those replies may repeat a prompt. What the server says about the probe's question cannot.

    Args:
        endpoint: the server.
        status: the HTTP status with which it refused the questions.
        plain: its reply to the probe's question, asked after the refusals.
    """
    refused = f"{describe_server(endpoint)} refuses questions (HTTP {status})"
    if plain.status == 200:
        return f"{refused}, but answers a harmless one, so the reason is in these prompts or their settings"
    said = _quote_server(endpoint, plain)
    if plain.status is None or not said:
        return f"{refused}; look at its own log"
    return f"{refused}, also a harmless one{said}"


def _quote_server(endpoint: Endpoint, reply: ProbeReply) -> str:
    """Return the server's message about a question of the probe, which contains no record's text; "" if none.

    Control characters are removed, and the message is cut. A message with the bearer token is not repeated.
    """
    if reply.status not in _TELLING_STATUSES:
        return ""
    token = read_token(endpoint)
    # The whole message is searched: where it is cut, a part of the token could be left.
    if token is not None and token in _find_error_message(reply.fields):
        return ""
    said = read_error_message(reply.fields)
    return f'; it says: "{said}"' if said else ""


def read_error_message(fields: Mapping[str, object]) -> str:
    """Return the message in the JSON body of an error as one line of at most 300 printable characters, or "".

    OpenAI and vLLM write it in `error.message` or `message`, FastAPI (transformers) in `detail`.
    """
    return _fit_on_line(_find_error_message(fields))


def _find_error_message(fields: Mapping[str, object]) -> str:
    """Return the whole message in the JSON body of an error; "" if there is none."""
    error = fields.get("error")
    if isinstance(error, Mapping):
        error = error.get("message")
    detail = fields.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):
        detail = detail[0].get("msg")  # FastAPI's list of wrong fields
    for said in (error, fields.get("message"), detail):
        if isinstance(said, str) and said.strip():
            return said
    return ""


def _fit_on_line(text: str) -> str:
    words = " ".join(text[: 4 * _MAX_SAID].split())
    shown = "".join(filter(str.isprintable, words))
    return shown if len(shown) <= _MAX_SAID else f"{shown[:_MAX_SAID]} ..."
