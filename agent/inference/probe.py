"""Probe a server that calls itself compatible, when it is connected, for the features that it really honours.

Servers silently ignore fields they do not know, so a feature counts only when its effect is seen in a reply.
"""

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent.errors import ConfigError, InferenceError
from agent.inference import findings
from agent.inference.capabilities import Capabilities, Feature, FeatureName, TokenLimitField
from agent.inference.catalogue import Catalogue, undo_own_defaults
from agent.inference.connection import (
    BrokenError,
    Obstacle,
    Reply,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint
from agent.inference.findings import FEW_TOKENS, THOUGHT_TOKENS, ProbeReply
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_digest, same_model
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
_COUNTED = (Message("user", _COUNT),)
_SOME_TOKENS, _JSON_TOKENS = 24, 40
_ASIDE_S = 30.0  # for pages that a server may lack: they must not delay the questions beside them
_PATIENCE_S = (
    0.5,
    1.0,
    2.0,
    4.0,
)  # seconds between questions to a server that is starting or overrun
# No valid name of a model anywhere, so no server goes looking for it on the network.
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
_OBSTACLES: Mapping[Obstacle, tuple[str, str]] = {
    "refused": ("refuses connections", "Start it, or correct base_url's host and port."),
    "timeout": (
        "does not take connections in time",
        "Check the network between here and the server.",
    ),
    "name": ("has a host name that is not known here", "Correct base_url's host."),
    "tls": (
        "shows a certificate that is not trusted, or does not speak TLS",
        "Name your certificate authority in the deployment's ca_bundle, or correct base_url.",
    ),
    "proxy": ("cannot be reached through the proxy, which refused", "Check the proxy setting."),
}


async def probe(deployment: Endpoint, limits: HttpLimits | None = None) -> Capabilities:
    """Ask the server a dozen small questions, in two rounds at once each, and report the features that it honours.

    The questions hold no text of any dataset. A server that answers in 50 ms is probed in about 0.15 s.

    Raises:
        InferenceError: the server cannot be reached, refuses the token, does not serve the model, or does not
            answer as an OpenAI-compatible server.
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    open_tokenizer(deployment)  # before anything is asked
    asker = _Asker(deployment, limits or HttpLimits())
    try:
        return await _run_probe(asker, deployment)
    finally:
        await asker.close()


async def _run_probe(asker: "_Asker", deployment: Endpoint) -> Capabilities:
    """Ask the first round, refuse a server that cannot be used, ask the second round, and judge the replies."""
    model = deployment.served_model
    round_one = await _ask_usable_first_round(asker, model)
    catalogue = Catalogue.of(round_one.listed)
    plainest = round_one.plain
    if not plainest.response and round_one.seven.response:
        plainest = round_one.seven
    _refuse_unusable(deployment, plainest, round_one.stranger, catalogue)

    mark = findings.choose_stop_mark(round_one.plain.text)
    one_word, stopped = await asyncio.gather(
        asker.ask(model, content=_ONE_WORD, tokens=THOUGHT_TOKENS), asker.ask_to_stop(model, mark)
    )
    answers = [*round_one.asked_for_model, one_word]
    if stopped is not None:
        answers.append(stopped)
    names = _collect_other_names(deployment, answers, catalogue)

    is_listed = model in catalogue.names
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
        "json_schema": findings.examine_json_schema(round_one.shaped),
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
    )


def _thinks_inline(deployment: Endpoint, answers: Sequence[ProbeReply]) -> bool:
    """Tell whether the model thinks inside its answers: a reply shows it, or no reply shows where its thoughts go."""
    is_unseen = deployment.reasoning and not findings.thinks_apart(answers)
    return is_unseen or findings.thinks_inline(answers)


async def _ask_usable_first_round(asker: "_Asker", model: str) -> "_FirstRound":
    """Ask the first round, with the newer name of the limit and with patience where the server needs them."""
    round_one = await _ask_first_round(asker, model)
    if round_one.plain.status in (400, 422):  # perhaps it takes only the newer name of the limit
        asker.limit_field = "max_completion_tokens"
        newer_round = await _ask_first_round(asker, model)
        if newer_round.plain.status == 200:
            round_one = newer_round
    if round_one.plain.response is None and round_one.again.response is not None:
        return round_one._replace(plain=round_one.again)
    if round_one.plain.passing and round_one.seven.response is None:
        return round_one._replace(plain=await asker.ask_patiently(model))
    return round_one


@dataclass(frozen=True, slots=True)
class _OtherNames:
    """The names other than the model's that replies give.

    Attributes:
        unlisted: whether one of them is not in the server's list as another name of the model.
    """

    names: frozenset[str]
    unlisted: bool


def _collect_other_names(
    deployment: Endpoint, answers: Sequence[ProbeReply], catalogue: Catalogue
) -> _OtherNames:
    """Collect the names under which replies came, other than the model's.

    Raises:
        InferenceError: the replies name another model, and the server does not list the model asked for.
    """
    model = deployment.served_model
    names = set()
    for answer in answers:
        if answer.named.strip() and not same_model(model, answer.named):
            names.add(answer.named)
    unlisted = any(not catalogue.knows_as(model, name) for name in names)
    if unlisted and model not in catalogue.names:
        raise InferenceError(
            f"deployment {deployment.name}: asked for {model}, the server answers under the name of another model",
            f"Ask for the model by the name that the server itself gives it. {catalogue.offer()}",
        )
    return _OtherNames(frozenset(names), unlisted)


def _settle_limit_field(
    asked_with: TokenLimitField, features: dict[FeatureName, Feature]
) -> TokenLimitField:
    """Return the field that limits tokens; enter the refusal of max_tokens where the server takes the newer alone."""
    if asked_with == "max_completion_tokens":
        features["max_completion_tokens"] = features["max_tokens"]
        features["max_tokens"] = Feature(
            "refused", "refuses max_tokens, takes max_completion_tokens"
        )
        return asked_with
    if (
        features["max_tokens"].state == "ignored"
        and features["max_completion_tokens"].state == "honoured"
    ):
        return "max_completion_tokens"
    return asked_with


class _FirstRound(NamedTuple):
    """The replies to all questions that need no answer to another."""

    listed: ProbeReply
    plain: ProbeReply
    again: ProbeReply  # the plain question once more
    seven: ProbeReply  # with seed 7
    seven_again: ProbeReply
    eight: ProbeReply  # with seed 8
    limited: ProbeReply  # by both names of the limit, max_completion_tokens the lower
    logprobs: ProbeReply
    two: ProbeReply  # n = 2
    shaped: ProbeReply  # held to a JSON schema
    stranger: ProbeReply  # for a model that does not exist
    props: ProbeReply  # llama.cpp's own page of settings
    counted_as_vllm: ProbeReply  # how many tokens the plain question has
    counted_as_llama: ProbeReply

    @property
    def asked_for_model(self) -> tuple[ProbeReply, ...]:
        """The replies that should be the model's own."""
        return self[1:-4]


async def _ask_first_round(asker: "_Asker", model: str) -> _FirstRound:
    words: dict[str, Any] = {"content": _WORDS, "temperature": 1, "tokens": _SOME_TOKENS}
    replies = await asyncio.gather(
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
    return _FirstRound(*replies)


def _choose_counting(deployment: Endpoint, round_one: _FirstRound) -> tuple[Counting | None, int]:
    """Return the means by which tokens of prompts are counted, and the tokens that the chat template adds.

    A server's count is believed only where it agrees with the tokens that it reports for the same prompt.

    Raises:
        ConfigError: the tokenizer file is not that of the model.
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
            f"deployment {deployment.name}: tokenizer_file counts other tokens than the server reports for the same"
            " prompt, so it is not that of the model served",
            "Name the tokenizer.json that the server loaded, or leave tokenizer_file out.",
        )
    return "tokenizer_file", file_template


def _count_by_server(round_one: _FirstRound, reported: int) -> Iterator[tuple[Served, int]]:
    """Yield the servers' ways to count that agree with the tokens reported, with the template's tokens."""
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
    """Asks each question on a connection of its own, so that all of a round are under way at once."""

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
        """Ask for the tokens of the plain question."""
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
        """Ask the plain question with a stop sequence; None when there is none to ask with."""
        return await self.ask(model, stop=[mark]) if mark else None

    async def ask_patiently(self, model: str) -> ProbeReply:
        """Ask the plain question until it is answered, or fails for a reason that waiting does not mend."""
        for wait_s in _PATIENCE_S:
            await asyncio.sleep(wait_s)
            reply = await self.ask(model)
            if not reply.passing:
                break
        return reply

    async def _exchange(
        self, path: str, body: bytes | None = None, asked_model: str = "", most_s: float = math.inf
    ) -> ProbeReply:
        """Send one question on an idle connection, or on a new one, and read the reply."""
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


def _refuse_unusable(
    deployment: Endpoint, plain: ProbeReply, stranger: ProbeReply, catalogue: Catalogue
) -> None:
    """Raise when the plainest question was not answered, or the answer may come from another model."""
    who = f"deployment {deployment.name}: the server"
    if plain.obstacle is not None:
        problem, advice = _OBSTACLES[plain.obstacle]
        raise InferenceError(f"{who} {problem}", advice)
    status = plain.status
    model = deployment.served_model
    if plain.hung:
        raise InferenceError(
            f"{who} took the question but did not answer in time", "Look at the server's own log."
        )
    if status is None:
        raise InferenceError(
            f"{who} took the connection but sent no whole reply", "Look at the server's own log."
        )
    if status in (401, 403):
        raise InferenceError(
            f"{who} refuses the bearer token (HTTP {status})",
            "Put the right token into the deployment's token_file.",
        )
    if 300 <= status < 400:
        raise InferenceError(
            f"{who} redirects to another address (HTTP {status})",
            "Redirects are not followed, so that prompts go where you said: write the final address into base_url.",
        )
    # A server that answers to any name would otherwise pass off another model under this one's.
    if (
        catalogue.listed
        and model not in catalogue.names
        and (status != 200 or stranger.status == 200)
    ):
        raise InferenceError(f"{who} does not serve a model named {model}", catalogue.offer())
    if status == 404:
        raise InferenceError(
            f"{who} has no chat completions for the model {model} (HTTP 404)",
            "base_url should end in /v1, and the model's name must be the server's own.",
        )
    if status != 200:
        raise InferenceError(
            f"{who} fails on a plain question (HTTP {status})", "Look at the server's own log."
        )
    if not plain.understood:
        raise InferenceError(
            f"{who} does not answer as an OpenAI-compatible server does",
            "Correct base_url; it should end in /v1.",
        )


def _recognize_server(reply: Reply, replied_model: object, asked_model: str) -> str:
    """Recognize a server by its replies; its list of models does not always name it."""
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
