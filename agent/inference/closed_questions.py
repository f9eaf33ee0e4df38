"""Ask closed questions: limit the answer to the options, or compare the options' probabilities. Pure.

A server that honours no such field answers freely, so the probe checks the fields that are written here.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeGuard

from agent.vocabulary import ClosedQuestion, Failure, OptionLikelihood, Reason, Response

ChoiceField = Literal["structured_outputs", "guided_choice", "grammar", "response_format"]
"""The request field by which a server limits an answer to given texts, in the order in which they are preferred.

`structured_outputs` is vLLM's from version 0.11, `guided_choice` is vLLM's before 0.12, `grammar` is llama.cpp's, and
`response_format` is OpenAI's JSON schema, which most servers have.
"""
BARE_CHOICE_FIELDS: tuple[ChoiceField, ...] = ("structured_outputs", "guided_choice", "grammar")
"""The fields with which the answer is the option and nothing else."""

TOP_LOGPROBS = 20  # the largest number that vLLM (by default) and OpenAI accept
_JSON_KEY = "answer"
_PART_OF_CHARACTER = "\ufffd"


def write_choice_fields(field: ChoiceField, options: Sequence[str]) -> dict[str, object]:
    """Return the request fields that limit an answer to the options."""
    match field:
        case "structured_outputs":
            return {field: {"choice": list(options)}}
        case "guided_choice":
            return {field: list(options)}
        case "grammar":
            literals = [json.dumps(option) for option in options]
            return {field: f"root ::= {' | '.join(literals)}"}
        case "response_format":
            schema = {
                "type": "object",
                "properties": {_JSON_KEY: {"type": "string", "enum": list(options)}},
                "required": [_JSON_KEY],
                "additionalProperties": False,
            }
            named = {"name": _JSON_KEY, "strict": True, "schema": schema}
            return {field: {"type": "json_schema", "json_schema": named}}


def write_fields(closed: ClosedQuestion, choice_field: ChoiceField | None) -> dict[str, object]:
    """Return the request fields of a closed question.

    Args:
        closed: the way of asking and the options.
        choice_field: the field by which the server limits answers; None if it has none, in which case the run is
            refused before it asks.
    """
    if closed.mode == "logprob":
        return {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return write_choice_fields(choice_field, closed.options) if choice_field else {}


def read_closed_reply(
    closed: ClosedQuestion, reply: Mapping[str, object], response: Response
) -> Response | Failure:
    """Return the response with the option as its text, or a failure if the server did not do as it was asked.

    Args:
        closed: the way of asking and the options.
        reply: the JSON object that the server sent.
        response: the response read from it.
    """
    if closed.mode == "logprob":
        return _read_logprob_reply(closed.options, reply, response)
    return _read_constrained_reply(closed.options, response)


def _read_constrained_reply(options: Sequence[str], response: Response) -> Response | Failure:
    option = read_chosen_option(response.text, options)
    if option is not None:
        return replace(response, text=option)
    if response.finish_reason == "length":
        return replace(response, text="")
    return Failure(Reason.BAD_REPLY, 200)


def read_chosen_option(text: str, options: Sequence[str]) -> str | None:
    """Return the option that a constrained answer consists of, alone or as JSON; None for any other text."""
    bare = text.strip()
    if bare in options:
        return bare
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != {_JSON_KEY}:
        return None
    option = value[_JSON_KEY]
    return option if isinstance(option, str) and option in options else None


def _read_logprob_reply(
    options: Sequence[str], reply: Mapping[str, object], response: Response
) -> Response | Failure:
    alternatives = list(iter_first_tokens(reply))
    # llama.cpp returns no probabilities if the likeliest token is only a part of a character, thus not an option.
    if not alternatives and response.text != _PART_OF_CHARACTER:
        return Failure(Reason.BAD_REPLY, 200)
    likelihoods = tuple(_measure_option(option, alternatives) for option in options)
    return replace(
        response,
        text=choose_likeliest(likelihoods) or "",
        finish_reason="stop",
        likelihoods=likelihoods,
    )


def _measure_option(option: str, alternatives: Sequence[tuple[str, float]]) -> OptionLikelihood:
    """Return the option's likelihood: that of the likeliest token that is the option, with or without a space."""
    logprobs = [logprob for token, logprob in alternatives if token.strip(" ▁Ġ") == option]
    return OptionLikelihood(option, max(logprobs, default=None))


def choose_likeliest(likelihoods: Sequence[OptionLikelihood]) -> str | None:
    """Return the likeliest option; None if several are equally likely, or none was among the returned tokens."""
    known = [each.logprob for each in likelihoods if each.logprob is not None]
    if not known:
        return None
    likeliest = [each.option for each in likelihoods if each.logprob == max(known)]
    return likeliest[0] if len(likeliest) == 1 else None


def iter_first_tokens(reply: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """Yield the tokens that could begin the answer, each with the logarithm of its probability.

    The token that was chosen is included, because servers may omit it from the list of the likeliest.
    """
    first = _find_first_position(reply)
    listed = first.get("top_logprobs")
    for item in (first, *(listed if isinstance(listed, list) else ())):
        if not isinstance(item, dict):
            continue
        token, logprob = item.get("token"), item.get("logprob")
        if isinstance(token, str) and _is_logprob(logprob):
            yield token, logprob


def _find_first_position(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Return the log probabilities at the answer's first token, or an empty map."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    return first if isinstance(first, dict) else {}


def _is_logprob(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value)
