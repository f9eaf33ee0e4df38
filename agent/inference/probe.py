"""Probe which features an OpenAI-compatible server really honours.

Servers silently ignore unknown fields, so a feature only counts as honoured if its effect is visible in a reply.
"""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent.errors import ConfigError, InferenceError
from agent.inference import findings
from agent.inference.capabilities import (
    Capabilities,
    Feature,
    FeatureName,
    Needs,
    TokenLimitField,
)
from agent.inference.catalogue import Catalogue, undo_own_defaults
from agent.inference.closed_questions import (
    BARE_CHOICE_FIELDS,
    CONTINUED_FIELDS,
    TOP_LOGPROBS,
    ChoiceField,
    write_choice_fields,
)
from agent.inference.connection import (
    BrokenError,
    Reply,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint, describe_server
from agent.inference.findings import FEW_TOKENS, THOUGHT_TOKENS, ProbeReply
from agent.inference.limits import HttpLimits
from agent.inference.naming import find_listed_name, name_digest, same_model
from agent.inference.refusals import refuse_unusable
from agent.inference.tokens import (
    TOKENIZE,
    UNSEEN_TEMPLATE_TOKENS,
    Counting,
    Served,
    encode_count,
    infer_template_tokens,
    open_tokenizer,
    read_count,
)
from agent.inference.wire import encode_object, parse_error, parse_object, parse_reply
from agent.vocabulary import Message, Reason, Response

_COUNT = "Count from 1 to 40, separated by single spaces. Write the numbers only."
_WORDS = "Write twenty random English words, separated by single spaces."
_COLOUR = "Which colour is the sky on a clear day? Answer in one sentence."
_ONE_WORD = "Is ice cold? Answer with one word, yes or no."
# Not answers to _ONE_WORD, so an answer that is one of them shows that the server limits answers.
_UNASKED_OPTIONS = ("stone", "glass")
_COUNTED = (Message("user", _COUNT),)
_BEGUN = "1 2 3"  # the beginning of an answer to _COUNT
# All ways of asking a closed question.
EVERY_WAY = Needs(choice=True, option_logprobs=True, text_logprobs=True)
# Small models fill every gap that a schema leaves them with white space, for about 20 tokens each.
_SOME_TOKENS, _JSON_TOKENS = 24, 120
_ASIDE_S = 30.0  # timeout for optional pages, so that they do not delay the other questions
# Seconds between questions to a server that is starting or overloaded.
_PATIENCE_S = (0.5, 1.0, 2.0, 4.0)
# This is not a valid model name, so no server tries to download the model.
_NO_SUCH_MODEL = "intramural: no such model"
_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "colour",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"colour": {"type": "string", "enum": ["blue", "red"]}},
            "required": ["colour"],
            "additionalProperties": False,
        },
    },
}


async def probe(
    deployment: Endpoint, limits: HttpLimits | None = None, needs: Needs = EVERY_WAY
) -> Capabilities:
    """Send up to seventeen small questions in two concurrent rounds, and return the features that the server honours.

    The questions contain no text of any dataset. If the server answers in 50 ms, the probe takes about 0.15 s.

    Args:
        deployment: the server and its model.
        limits: limits of time and retries.
        needs: what the runs need. The features of a way of asking closed questions that none needs are not probed.

    Raises:
        InferenceError: the server cannot be reached, refuses the token, does not serve the model, or is not
            OpenAI-compatible.
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    open_tokenizer(deployment)  # raise errors before any request is sent
    asker = _Asker(deployment, limits or HttpLimits())
    try:
        return await _run_probe(asker, deployment, needs)
    finally:
        await asker.close()


async def ask_plain_question(deployment: Endpoint, limits: HttpLimits, model: str) -> ProbeReply:
    """Ask the first question of the probe, which contains no text of any dataset, and return the reply.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    asker = _Asker(deployment, limits)
    try:
        return await asker.ask(model)
    finally:
        await asker.close()


async def _run_probe(asker: "_Asker", deployment: Endpoint, needs: Needs) -> Capabilities:
    """Send the first round, refuse a server that cannot be used, send the second round and evaluate the replies."""
    model = deployment.served_model
    round_one = await _ask_usable_first_round(asker, model, needs)
    catalogue = Catalogue.of(round_one.listed)
    listed_name = find_listed_name(model, catalogue.names)
    if listed_name not in (None, model):
        model = listed_name
        round_one = await _ask_usable_first_round(asker, model, needs)
    plainest = round_one.plain
    if not plainest.response and round_one.seven.response:
        plainest = round_one.seven
    refuse_unusable(deployment, model, plainest, round_one.stranger, catalogue)

    mark = findings.choose_stop_mark(round_one.plain.text)
    one_word, stopped = await asyncio.gather(
        asker.ask(model, content=_ONE_WORD, tokens=THOUGHT_TOKENS), asker.ask_to_stop(model, mark)
    )
    answers = [*round_one.asked_for_model, one_word]
    if stopped is not None:
        answers.append(stopped)
    names = _collect_other_names(deployment, model, answers, catalogue)

    is_listed = model in catalogue.names
    json_schema = findings.examine_json_schema(round_one.shaped)
    closed_features, choice_field = _examine_closed(round_one, json_schema)
    features: dict[FeatureName, Feature] = {
        "model_list": catalogue.feature(model),
        "model_name": findings.examine_model_name(round_one.stranger, is_listed, names.unlisted),
        "max_tokens": findings.examine_token_limit(round_one.plain),
        "max_completion_tokens": findings.examine_token_limit(round_one.limited),
        "temperature_zero": findings.compare_at_zero(round_one.plain, round_one.again),
        "seed": findings.examine_seeds(round_one.seven, round_one.seven_again, round_one.eight),
        "stop": findings.examine_stop_sequence(stopped, mark, round_one.plain.text),
        "n": findings.examine_several(round_one.two),
        "logprobs": findings.examine_logprobs(round_one.logprobs),
        "json_schema": json_schema,
        **closed_features,
        "usage": findings.examine_usage(round_one.plain),
        "reasoning": findings.examine_reasoning(answers, one_word, marked=deployment.reasoning),
    }
    limit_field = _settle_limit_field(asker.limit_field, features)
    server = catalogue.server or round_one.plain.server
    extra_body, notes = undo_own_defaults(server)
    if catalogue.refused_token:
        notes = (*notes, "The server refuses to list its models with this token.")
    counting, template_tokens = _choose_counting(deployment, round_one)
    return Capabilities(
        server=server,
        features=features,
        models_listed=len(catalogue.names),
        model_in_list=is_listed,
        notes=notes,
        token_limit_field=limit_field,
        extra_body=extra_body,
        language_model=model not in catalogue.not_language_models,
        inline_thoughts=_thinks_inline(deployment, answers),
        other_names=tuple(sorted(map(name_digest, names.names))),
        window=catalogue.window(model, round_one.props),
        counting=counting,
        template_tokens=template_tokens,
        choice_field=choice_field,
        served_as="" if model == deployment.served_model else model,
    )


def _examine_closed(
    round_one: "_FirstRound", json_schema: Feature
) -> tuple[dict[FeatureName, Feature], ChoiceField | None]:
    """Return the features for closed questions that were probed, and the field that limits answers to options."""
    closed = round_one.closed
    features: dict[FeatureName, Feature] = {}
    choice_field = None
    if closed.limited:
        choice_field = findings.find_choice_field(closed.limited, _UNASKED_OPTIONS, json_schema)
        features["choice"] = findings.describe_choice(choice_field)
    if closed.top_logprobs is not None:
        features["top_logprobs"] = findings.examine_top_logprobs(closed.top_logprobs)
    if closed.continued is not None:
        features["prompt_logprobs"] = findings.examine_prompt_logprobs(
            closed.continued, round_one.plain, _BEGUN
        )
    return features, choice_field


def _thinks_inline(deployment: Endpoint, answers: Sequence[ProbeReply]) -> bool:
    """Return whether answers contain reasoning.

    This is assumed for a reasoning model if no reply has separate reasoning.
    """
    is_unseen = deployment.reasoning and not findings.thinks_apart(answers)
    return is_unseen or findings.thinks_inline(answers)


async def _ask_usable_first_round(asker: "_Asker", model: str, needs: Needs) -> "_FirstRound":
    """Send the first round; if necessary, repeat it with the newer name of the token limit, or wait for the server."""
    round_one = await _ask_first_round(asker, model, needs)
    if round_one.plain.status in (400, 422):  # the server may only accept the newer name
        asker.limit_field = "max_completion_tokens"
        newer_round = await _ask_first_round(asker, model, needs)
        if newer_round.plain.status == 200:
            round_one = newer_round
    if round_one.plain.response is None and round_one.again.response is not None:
        return round_one._replace(plain=round_one.again)
    if round_one.plain.passing and round_one.seven.response is None:
        return round_one._replace(plain=await asker.ask_patiently(model))
    return round_one


@dataclass(frozen=True, slots=True)
class _OtherNames:
    """The names in replies that differ from the requested model's name.

    Attributes:
        names: the names.
        unlisted: whether any of them is not in the server's list as another name of the model.
    """

    names: frozenset[str]
    unlisted: bool


def _collect_other_names(
    deployment: Endpoint, model: str, answers: Sequence[ProbeReply], catalogue: Catalogue
) -> _OtherNames:
    """Collect the names in replies that differ from the requested model's name.

    Raises:
        InferenceError: replies have another name, and the server does not list the requested model.
    """
    names = set()
    for answer in answers:
        if answer.named.strip() and not same_model(model, answer.named):
            names.add(answer.named)
    unlisted = any(not catalogue.knows_as(model, name) for name in names)
    if unlisted and model not in catalogue.names:
        raise InferenceError(
            f"{describe_server(deployment)} replies to requests for {model} with the name of another model",
            f"Use the server's own name of the model. {catalogue.offer()}",
        )
    return _OtherNames(frozenset(names), unlisted)


def _settle_limit_field(
    asked_with: TokenLimitField, features: dict[FeatureName, Feature]
) -> TokenLimitField:
    """Return the field that limits tokens.

    If the server only accepts the newer field, the refusal of max_tokens is added to `features`.
    """
    if asked_with == "max_completion_tokens":
        features["max_completion_tokens"] = features["max_tokens"]
        features["max_tokens"] = Feature(
            "refused", "refuses max_tokens, but accepts max_completion_tokens"
        )
        return asked_with
    if (
        features["max_tokens"].state == "ignored"
        and features["max_completion_tokens"].state == "honoured"
    ):
        return "max_completion_tokens"
    return asked_with


class _ClosedReplies(NamedTuple):
    """The replies to the questions about closed questions, as far as they were asked.

    Attributes:
        limited: those to the question to be answered with an option, in the three forms of BARE_CHOICE_FIELDS.
        top_logprobs: that to the plain question with the likeliest tokens.
        continued: that to the plain question with the beginning of an answer, which is scored.
    """

    limited: list[tuple[ChoiceField, ProbeReply]]
    top_logprobs: ProbeReply | None
    continued: ProbeReply | None

    def list_all(self) -> list[ProbeReply]:
        replies = [reply for _, reply in self.limited]
        return replies + [reply for reply in (self.top_logprobs, self.continued) if reply]


class _FirstRound(NamedTuple):
    """The replies to all questions that do not depend on the answer to another question."""

    closed: _ClosedReplies
    listed: ProbeReply
    plain: ProbeReply
    again: ProbeReply  # the plain question again
    seven: ProbeReply  # with seed 7
    seven_again: ProbeReply
    eight: ProbeReply  # with seed 8
    limited: ProbeReply  # with both names of the token limit; max_completion_tokens is lower
    logprobs: ProbeReply
    two: ProbeReply  # n = 2
    shaped: ProbeReply  # with a JSON schema
    stranger: ProbeReply  # for a model that does not exist
    props: ProbeReply  # llama.cpp's page of settings
    counted_as_vllm: ProbeReply  # the number of tokens in the plain question
    counted_as_llama: ProbeReply  # the same in llama.cpp's format

    @property
    def asked_for_model(self) -> tuple[ProbeReply, ...]:
        """The replies that should come from the requested model."""
        apart = (self.plain, self.again, self.seven, self.seven_again, self.eight)
        together = (self.limited, self.logprobs, self.two, self.shaped)
        return (*apart, *together, *self.closed.list_all())


async def _ask_first_round(asker: "_Asker", model: str, needs: Needs) -> _FirstRound:
    open_replies, closed_replies = await asyncio.gather(
        _ask_open(asker, model), _ask_closed(asker, model, needs)
    )
    return _FirstRound(closed_replies, *open_replies)


async def _ask_open(asker: "_Asker", model: str) -> list[ProbeReply]:
    """Send the questions of the first round that every run needs, in the order of `_FirstRound`."""
    words: dict[str, Any] = {"content": _WORDS, "temperature": 1, "tokens": _SOME_TOKENS}
    return await asyncio.gather(
        asker.get("/models"),
        asker.ask(model),
        asker.ask(model),
        asker.ask(model, seed=7, **words),
        asker.ask(model, seed=7, **words),
        asker.ask(model, seed=8, **words),
        asker.ask(model, max_tokens=_SOME_TOKENS, max_completion_tokens=FEW_TOKENS),
        asker.ask(model, logprobs=True, top_logprobs=1),
        asker.ask(model, n=2, temperature=1),
        asker.ask(model, content=_COLOUR, tokens=_JSON_TOKENS, response_format=_SCHEMA),
        asker.ask(_NO_SUCH_MODEL),
        asker.get("../props", _ASIDE_S),
        asker.count("vllm", model),
        asker.count("llama.cpp", model),
    )


async def _ask_closed(asker: "_Asker", model: str, needs: Needs) -> _ClosedReplies:
    """Send the questions that show how closed questions can be asked, as far as they are needed."""
    choice_fields = BARE_CHOICE_FIELDS if needs.choice else ()
    questions = [asker.ask_to_choose(model, choice_field) for choice_field in choice_fields]
    if needs.option_logprobs:
        questions.append(asker.ask(model, logprobs=True, top_logprobs=TOP_LOGPROBS))
    if needs.text_logprobs:
        questions.append(asker.ask_to_score(model, _BEGUN))
    replies = await asyncio.gather(*questions)
    return _ClosedReplies(
        limited=list(zip(choice_fields, replies, strict=False)),
        top_logprobs=replies[len(choice_fields)] if needs.option_logprobs else None,
        continued=replies[-1] if needs.text_logprobs else None,
    )


def _choose_counting(deployment: Endpoint, round_one: _FirstRound) -> tuple[Counting | None, int]:
    """Return the method of counting prompts' tokens, and the number of tokens that the chat template adds.

    A server's count is only used if it agrees with the number of tokens that it reports for the same prompt.

    Raises:
        ConfigError: the tokenizer file does not belong to the model.
    """
    reported = round_one.plain.response.prompt_tokens if round_one.plain.response else None
    if reported is not None:
        counted_by_server = next(_count_by_server(round_one, reported), None)
        if counted_by_server is not None:
            return counted_by_server
    count = open_tokenizer(deployment)
    if count is None:
        return None, UNSEEN_TEMPLATE_TOKENS
    if reported is None:
        return "tokenizer_file", UNSEEN_TEMPLATE_TOKENS
    file_template = infer_template_tokens("tokenizer_file", count(_COUNTED), reported)
    if file_template is None:
        raise ConfigError(
            f"deployment {deployment.name}: with tokenizer_file, a prompt has a different number of tokens than the"
            " server reports, so the file does not belong to the served model",
            "Set tokenizer_file to the tokenizer.json that the server uses, or omit it.",
        )
    return "tokenizer_file", file_template


def _count_by_server(round_one: _FirstRound, reported: int) -> Iterator[tuple[Served, int]]:
    """Yield each method of counting that agrees with the reported tokens, with the number of template tokens."""
    replies: tuple[tuple[Served, ProbeReply], ...] = (
        ("vllm", round_one.counted_as_vllm),
        ("llama.cpp", round_one.counted_as_llama),
    )
    for counting, reply in replies:
        counted = read_count(counting, reply.fields, _COUNTED) if reply.status == 200 else None
        if counted is None:
            continue
        template = infer_template_tokens(counting, counted, reported)
        if template is not None:
            yield counting, template


class _Asker:
    """Sends each question on its own connection, so that all questions of a round run concurrently."""

    def __init__(self, deployment: Endpoint, limits: HttpLimits) -> None:
        self._line = ServerLine(deployment, limits)
        self._limits = limits
        self._idle = [self._line.open()]
        self.limit_field: TokenLimitField = "max_tokens"

    async def close(self) -> None:
        for connection in self._idle:
            await connection.close()

    async def get(self, path: str, most_s: float = math.inf) -> ProbeReply:
        return await self._exchange(path, most_s=most_s)

    async def count(self, counting: Served, model: str) -> ProbeReply:
        """Request the number of tokens in the plain question."""
        return await self._exchange(
            TOKENIZE, encode_count(counting, model, _COUNTED), most_s=_ASIDE_S
        )

    async def ask(
        self, model: str, content: str = _COUNT, tokens: int = FEW_TOKENS, **fields: Any
    ) -> ProbeReply:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            self.limit_field: tokens,
            **fields,
        }
        return await self._exchange("/chat/completions", encode_object(body), model)

    async def ask_to_stop(self, model: str, mark: str) -> ProbeReply | None:
        """Send the plain question with the stop sequence `mark`; return None if `mark` is empty."""
        return await self.ask(model, stop=[mark]) if mark else None

    async def ask_to_choose(self, model: str, choice_field: ChoiceField) -> ProbeReply:
        """Send a question whose answer is limited to options that no free answer would be."""
        fields: dict[str, Any] = write_choice_fields(choice_field, _UNASKED_OPTIONS)
        return await self.ask(model, content=_ONE_WORD, tokens=THOUGHT_TOKENS, **fields)

    async def ask_to_score(self, model: str, begun: str) -> ProbeReply:
        """Send the plain question with the beginning of an answer, and request the log probabilities of both."""
        messages = [
            {"role": "user", "content": _COUNT},
            {"role": "assistant", "content": begun},
        ]
        fields: dict[str, Any] = {"messages": messages, **CONTINUED_FIELDS}
        return await self.ask(model, tokens=1, **fields)

    async def ask_patiently(self, model: str) -> ProbeReply:
        """Send the plain question until it succeeds, fails permanently or has failed too often."""
        for wait_s in _PATIENCE_S:
            await asyncio.sleep(wait_s)
            reply = await self.ask(model)
            if not reply.passing:
                break
        return reply

    async def _exchange(
        self, path: str, body: bytes | None = None, asked_model: str = "", most_s: float = math.inf
    ) -> ProbeReply:
        """Send a question on an idle or new connection, and read the reply."""
        connection = self._idle.pop() if self._idle else self._line.open()
        try:
            async with asyncio.timeout(min(most_s, self._limits.first_attempt_timeout_s)):
                if body is None:
                    reply = await connection.get(path)
                else:
                    reply = await connection.post(path, body)
        except UnreachableServerError as error:
            return ProbeReply(None, {}, None, obstacle=error.obstacle)
        except TimeoutError:
            return ProbeReply(None, {}, None, hung=True)
        except (BrokenError, TooLongError):
            return ProbeReply(None, {}, None)
        finally:
            self._idle.append(connection)
        return _read_reply(reply, asked_model)


def _read_reply(reply: Reply, asked_model: str) -> ProbeReply:
    parsed = (
        parse_reply(reply.body) if reply.status == 200 else parse_error(reply.status, reply.body)
    )
    fields = parse_object(reply.body) or {}
    response = parsed if isinstance(parsed, Response) else None
    return ProbeReply(
        reply.status,
        fields,
        response=response,
        understood=isinstance(parsed, Response) or parsed.reason is not Reason.BAD_REPLY,
        server=_recognize_server(reply, fields.get("model"), asked_model),
    )


def _recognize_server(reply: Reply, replied_model: object, asked_model: str) -> str:
    """Recognise the kind of server from a reply, since the list of models does not always show it."""
    header = reply.header(b"server") or ""
    if header.lower().startswith("llama.cpp"):
        return "llama.cpp"
    # transformers serve adds the revision to the model's name: model@main
    if (
        asked_model
        and isinstance(replied_model, str)
        and replied_model.startswith(asked_model + "@")
    ):
        return "transformers"
    return "unknown"
