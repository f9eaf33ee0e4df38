"""Ask closed questions: limit the answer to the options, or compare the options' probabilities. Pure.

A server that honours no such field answers freely, so the probe checks the fields that are written here.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeGuard

from agent.vocabulary import (
    AnswerMode,
    ChatRequest,
    ClosedQuestion,
    Failure,
    Message,
    OptionLikelihood,
    Reason,
    Response,
)

ChoiceField = Literal["structured_outputs", "guided_choice", "grammar", "response_format"]
"""The request field by which a server limits an answer to given texts, in the order in which they are preferred.

`structured_outputs` is vLLM's from version 0.11, `guided_choice` is vLLM's before 0.12, `grammar` is llama.cpp's, and
`response_format` is OpenAI's JSON schema, which most servers have.
"""
BARE_CHOICE_FIELDS: tuple[ChoiceField, ...] = ("structured_outputs", "guided_choice", "grammar")
"""The fields with which the answer is the option and nothing else."""

TOP_LOGPROBS = 20  # the largest number that vLLM (by default) and OpenAI accept
TEXT_MODES: frozenset[AnswerMode] = frozenset({"logprob_text", "logprob_text_norm"})
"""The ways of asking in which every option's text is scored in a request of its own."""

# vLLM's fields: the last message is continued, not answered, and the log probability of each prompt token is returned.
CONTINUED_FIELDS: Mapping[str, object] = {
    "add_generation_prompt": False,
    "continue_final_message": True,
    "prompt_logprobs": 1,
}
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
    if closed.mode in TEXT_MODES:
        return {}  # each option's request has fields of its own
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


def write_context_request(request: ChatRequest) -> ChatRequest:
    """Return the request that shows how many tokens come before the answer."""
    return replace(request, max_tokens=1, closed=None)


def write_text_request(request: ChatRequest, text: str) -> ChatRequest:
    """Return the request that scores `text` as the beginning of the answer."""
    return replace(
        request,
        messages=(*request.messages, Message("assistant", text)),
        max_tokens=1,
        extra_body={**request.extra_body, **CONTINUED_FIELDS},
        closed=None,
    )


def sum_text_logprobs(reply: Mapping[str, object], text: str, context_tokens: int) -> float | None:
    """Return the log-likelihood of the text that ends a scored prompt: the sum over its tokens.

    None if the server did not score exactly this text, for example because its chat template changes the last message.

    Args:
        reply: the JSON object that the server sent.
        text: the text of the option.
        context_tokens: number of tokens before it.
    """
    prompt = reply.get("prompt_logprobs")
    if not isinstance(prompt, list) or len(prompt) <= context_tokens:
        return None
    tokens: list[str] = []
    logprobs: list[float] = []
    for position in prompt[context_tokens:]:
        token = _find_prompt_token(position)
        if token is None:
            return None
        tokens.append(token[0])
        logprobs.append(token[1])
    return math.fsum(logprobs) if _spells("".join(tokens), text) else None


def _spells(scored: str, text: str) -> bool:
    """Return whether the joined tokens are the text, apart from the white space around it.

    Tokens that are parts of a character cannot be compared, so each run of them stands for any text.
    """
    rest = text.strip()
    first, *others = re.split(f"{_PART_OF_CHARACTER}+", scored.strip())
    if not others:
        return first == rest
    *between, last = others
    if not rest.startswith(first):
        return False
    end = len(first)
    for part in between:
        start = rest.find(part, end + 1)
        if start < 0:
            return False
        end = start + len(part)
    return rest.endswith(last) and end < len(rest) - len(last)


def _find_prompt_token(position: object) -> tuple[str, float] | None:
    """Return the token at a position of the prompt with its log probability; None if the server did not score it.

    Besides it, vLLM returns the likeliest token at the position. If these differ, the prompt's own has the worse rank.
    """
    if not isinstance(position, dict) or not position:
        return None
    candidates = [each for each in position.values() if isinstance(each, dict)]
    own = max(candidates, key=_read_rank, default={})
    token, logprob = own.get("decoded_token"), own.get("logprob")
    return (token, logprob) if isinstance(token, str) and _is_logprob(logprob) else None


def _read_rank(candidate: Mapping[str, object]) -> int:
    rank = candidate.get("rank")
    return rank if isinstance(rank, int) else 0


def choose_text(closed: ClosedQuestion, likelihoods: Sequence[OptionLikelihood]) -> str | None:
    """Return the likeliest option by its text; None if several are equally likely.

    With "logprob_text_norm" likelihoods are divided by the number of characters of the text, as lm-evaluation-harness
    does for `acc_norm`; without, they are compared as they are (`acc`).
    """
    if closed.mode == "logprob_text":
        return choose_likeliest(likelihoods)
    normalised = []
    for each, text in zip(likelihoods, closed.texts, strict=True):
        per_character = None if each.logprob is None else each.logprob / max(1, len(text))
        normalised.append(OptionLikelihood(each.option, per_character))
    return choose_likeliest(normalised)
