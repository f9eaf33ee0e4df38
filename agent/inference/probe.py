"""Finds out at connect time what a server that calls itself compatible really honours.

Servers silently ignore fields they do not know, so a feature counts only when its effect is seen in a reply.
"""

import asyncio
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from agent.errors import ConfigError, InferenceError
from agent.inference import findings
from agent.inference.capabilities import Capabilities, Feature, FeatureName, TokenLimitField
from agent.inference.catalogue import Catalogue, own_defaults
from agent.inference.connection import BrokenError, Line, Obstacle, Reply, TooLongError, UnreachableServerError
from agent.inference.endpoint import Endpoint
from agent.inference.findings import FEW_TOKENS, THOUGHT_TOKENS, Seen
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_digest, same_model
from agent.inference.tokens import (
    TOKENIZE,
    UNSEEN_TEMPLATE_TOKENS,
    Counting,
    Served,
    encode_count,
    open_tokenizer,
    read_count,
    template_seen,
)
from agent.inference.wire import encode_object, parse_error, parse_object, parse_reply
from agent.vocabulary import Message, Reason, Response

_COUNT = "Count from 1 to 40, separated by single spaces. Write the numbers only."
_WORDS = "Write twenty random English words, separated by single spaces."
_COLOUR = "Which colour is the sky on a clear day? Answer in one sentence."
_ONE_WORD = "Is ice cold? Answer with one word, yes or no."
_COUNTED = (Message("user", _COUNT),)
_SOME_TOKENS, _JSON_TOKENS = 24, 40
_ASIDE_S = 30.0  # for what a server may lack: it must not hold up all that is asked beside it
_PATIENCE_S = (0.5, 1.0, 2.0, 4.0)  # seconds between questions to a server that is starting or overrun
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
    "timeout": ("does not take connections in time", "Check the network between here and the server."),
    "name": ("has a host name that is not known here", "Correct base_url's host."),
    "tls": (
        "shows a certificate that is not trusted, or does not speak TLS",
        "Name your certificate authority in the deployment's ca_bundle, or correct base_url.",
    ),
    "proxy": ("cannot be reached through the proxy, which refused", "Check the proxy setting."),
}


async def probe(deployment: Endpoint, limits: HttpLimits | None = None) -> Capabilities:
    """Ask the server a dozen small questions, in two rounds at once each, and report what it honoured.

    The questions hold no text of any dataset. A server that answers in 50 ms is probed in about 0.15 s.

    Raises:
        InferenceError: the server cannot be reached, refuses the token, does not serve the model, or does not
            answer as an OpenAI-compatible server.
        ConfigError: the address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    open_tokenizer(deployment)  # before anything is asked
    asker = _Asker(deployment, limits or HttpLimits())
    try:
        return await _probe(asker, deployment)
    finally:
        await asker.close()


async def _probe(asker: "_Asker", deployment: Endpoint) -> Capabilities:
    model = deployment.served_model
    seen = await _first_round(asker, model)
    if seen.plain.status in (400, 422):  # perhaps it takes only the newer name of the limit
        asker.limit_field = "max_completion_tokens"
        newer = await _first_round(asker, model)
        seen = newer if newer.plain.status == 200 else seen
    if seen.plain.response is None and seen.again.response is not None:
        seen = seen._replace(plain=seen.again)
    elif seen.plain.passing and seen.seven.response is None:
        seen = seen._replace(plain=await asker.ask_patiently(model))
    catalogue = Catalogue.of(seen.listed)
    plainest = seen.plain if seen.plain.response or not seen.seven.response else seen.seven
    _refuse_unusable(deployment, plainest, seen.stranger, catalogue)
    mark = findings.stop_mark(seen.plain.text)
    one_word, stopped = await asyncio.gather(
        asker.ask(model, content=_ONE_WORD, tokens=THOUGHT_TOKENS), asker.ask_to_stop(model, mark)
    )
    answers = [*seen.asked_for_model, one_word, *([stopped] if stopped else [])]
    others = {one.named for one in answers if one.named.strip() and not same_model(model, one.named)}
    renamed = any(not catalogue.knows_as(model, named) for named in others)
    if renamed and model not in catalogue.names:
        raise InferenceError(
            f"deployment {deployment.name}: asked for {model}, the server answers under the name of another model",
            f"Ask for the model by the name that the server itself gives it. {catalogue.offer()}",
        )

    features: dict[FeatureName, Feature] = {
        "model_list": catalogue.feature(model),
        "model_name": findings.model_name(seen.stranger, model in catalogue.names, renamed),
        "max_tokens": findings.token_limit(seen.plain),
        "max_completion_tokens": findings.token_limit(seen.limited),
        "temperature_zero": findings.same_at_zero(seen.plain, seen.again),
        "seed": findings.seed(seen.seven, seen.seven_again, seen.eight),
        "stop": findings.stop_sequence(stopped, mark, seen.plain.text),
        "n": findings.several(seen.two),
        "logprobs": findings.logprobs(seen.logprobs),
        "json_schema": findings.json_schema(seen.shaped),
        "usage": findings.usage(seen.plain),
        "reasoning": findings.reasoning(answers, one_word, marked=deployment.reasoning),
    }
    limit_field = asker.limit_field
    if limit_field == "max_completion_tokens":
        features["max_completion_tokens"] = features["max_tokens"]
        features["max_tokens"] = Feature("refused", "refuses max_tokens, takes max_completion_tokens")
    elif features["max_tokens"].state == "ignored" and features["max_completion_tokens"].state == "honoured":
        limit_field = "max_completion_tokens"
    server = catalogue.server or seen.plain.server
    extra_body, notes = own_defaults(server)
    if catalogue.refused_token:
        notes = (*notes, "The server refuses to list its models with this token.")
    counting, template = _who_counts(deployment, seen)
    return Capabilities(
        server=server,
        features=features,
        models_listed=len(catalogue.names),
        model_in_list=model in catalogue.names,
        notes=notes,
        token_limit_field=limit_field,
        extra_body=extra_body,
        language_model=model not in catalogue.not_language_models,
        inline_thoughts=findings.thinks_inline(answers)
        or (deployment.reasoning and not findings.thinks_apart(answers)),
        other_names=tuple(sorted(map(name_digest, others))),
        window=catalogue.window(model, seen.props),
        counting=counting,
        template_tokens=template,
    )


class _FirstRound(NamedTuple):
    """What came back from all questions that wait for no other's answer."""

    listed: Seen
    plain: Seen
    again: Seen  # the plain question once more
    seven: Seen  # with seed 7
    seven_again: Seen
    eight: Seen  # with seed 8
    limited: Seen  # by both names of the limit, max_completion_tokens the lower
    logprobs: Seen
    two: Seen  # n = 2
    shaped: Seen  # held to a JSON schema
    stranger: Seen  # for a model that does not exist
    props: Seen  # llama.cpp's own page of settings
    counted_as_vllm: Seen  # how many tokens the plain question has
    counted_as_llama: Seen

    @property
    def asked_for_model(self) -> tuple[Seen, ...]:
        """The replies that should be the model's own."""
        return self[1:-4]


async def _first_round(asker: "_Asker", model: str) -> _FirstRound:
    words: dict[str, Any] = {"content": _WORDS, "temperature": 1, "tokens": _SOME_TOKENS}
    seen = await asyncio.gather(
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
    return _FirstRound(*seen)


def _who_counts(deployment: Endpoint, seen: _FirstRound) -> tuple[Counting | None, int]:
    """Return who counts the tokens of prompts, and how many the chat template adds.

    A server's count is believed only where it agrees with the tokens that it reports for the same prompt.

    Raises:
        ConfigError: the tokenizer file is not that of the model.
    """
    reported = seen.plain.response.prompt_tokens if seen.plain.response else None
    served: tuple[tuple[Served, Seen], ...] = (("vllm", seen.counted_as_vllm), ("llama.cpp", seen.counted_as_llama))
    for counting, one in served:
        counted = read_count(counting, one.reply, _COUNTED) if one.status == 200 else None
        if counted is not None and reported is not None:
            template = template_seen(counting, counted, reported)
            if template is not None:
                return counting, template
    count = open_tokenizer(deployment)
    if count is None:
        return None, UNSEEN_TEMPLATE_TOKENS
    if reported is None:
        return "tokenizer_file", UNSEEN_TEMPLATE_TOKENS
    template = template_seen("tokenizer_file", count(_COUNTED), reported)
    if template is None:
        raise ConfigError(
            f"deployment {deployment.name}: tokenizer_file counts other tokens than the server reports for the same"
            " prompt, so it is not that of the model served",
            "Name the tokenizer.json that the server loaded, or leave tokenizer_file out.",
        )
    return "tokenizer_file", template


class _Asker:
    """Asks each question on a connection of its own, so that all of a round are under way at once."""

    def __init__(self, deployment: Endpoint, limits: HttpLimits) -> None:
        self._line = Line(deployment, limits)
        self._limits = limits
        self._idle = [self._line.open()]
        self.limit_field: TokenLimitField = "max_tokens"

    async def close(self) -> None:
        for connection in self._idle:
            await connection.close()

    async def get(self, path: str, most_s: float = math.inf) -> Seen:
        return await self._seen(path, most_s=most_s)

    async def count(self, counting: Served, model: str) -> Seen:
        """Ask for the tokens of the plain question."""
        return await self._seen(TOKENIZE, encode_count(counting, model, _COUNTED), most_s=_ASIDE_S)

    async def ask(self, model: str, content: str = _COUNT, tokens: int = FEW_TOKENS, **fields: Any) -> Seen:
        messages = [{"role": "user", "content": content}]
        body = {"model": model, "messages": messages, "temperature": 0, self.limit_field: tokens, **fields}
        return await self._seen("/chat/completions", encode_object(body), model)

    async def ask_to_stop(self, model: str, mark: str) -> Seen | None:
        """Ask the plain question with a stop sequence; None when there is none to ask with."""
        return await self.ask(model, stop=[mark]) if mark else None

    async def ask_patiently(self, model: str) -> Seen:
        """Ask the plain question until it is answered, or fails for a reason that waiting does not mend."""
        for wait_s in _PATIENCE_S:
            await asyncio.sleep(wait_s)
            seen = await self.ask(model)
            if not seen.passing:
                break
        return seen

    async def _seen(
        self, path: str, body: bytes | None = None, asked_model: str = "", most_s: float = math.inf
    ) -> Seen:
        connection = self._idle.pop() if self._idle else self._line.open()
        try:
            async with asyncio.timeout(min(most_s, self._limits.first_attempt_timeout_s)):
                reply = await (connection.get(path) if body is None else connection.post(path, body))
        except UnreachableServerError as refused:
            return Seen(None, {}, None, obstacle=refused.obstacle)
        except TimeoutError:
            return Seen(None, {}, None, hung=True)
        except (BrokenError, TooLongError):
            return Seen(None, {}, None)
        finally:
            self._idle.append(connection)
        parsed = parse_reply(reply.body) if reply.status == 200 else parse_error(reply.status, reply.body)
        replied = parse_object(reply.body) or {}
        return Seen(
            reply.status,
            replied,
            response=parsed if isinstance(parsed, Response) else None,
            understood=isinstance(parsed, Response) or parsed.reason is not Reason.BAD_REPLY,
            server=_server_kind(reply, replied.get("model"), asked_model),
        )


def _refuse_unusable(deployment: Endpoint, plain: Seen, stranger: Seen, catalogue: Catalogue) -> None:
    """Raise when the plainest question was not answered, or answered by who knows what model."""
    who = f"deployment {deployment.name}: the server"
    if plain.obstacle is not None:
        problem, advice = _OBSTACLES[plain.obstacle]
        raise InferenceError(f"{who} {problem}", advice)
    status = plain.status
    model = deployment.served_model
    if plain.hung:
        raise InferenceError(f"{who} took the question but did not answer in time", "Look at the server's own log.")
    if status is None:
        raise InferenceError(f"{who} took the connection but sent no whole reply", "Look at the server's own log.")
    if status in (401, 403):
        raise InferenceError(
            f"{who} refuses the bearer token (HTTP {status})", "Put the right token into the deployment's token_file."
        )
    if 300 <= status < 400:
        raise InferenceError(
            f"{who} redirects to another address (HTTP {status})",
            "Redirects are not followed, so that prompts go where you said: write the final address into base_url.",
        )
    # A server that answers to any name would otherwise pass off another model under this one's.
    if catalogue.listed and model not in catalogue.names and (status != 200 or stranger.status == 200):
        raise InferenceError(f"{who} does not serve a model named {model}", catalogue.offer())
    if status == 404:
        raise InferenceError(
            f"{who} has no chat completions for the model {model} (HTTP 404)",
            "base_url should end in /v1, and the model's name must be the server's own.",
        )
    if status != 200:
        raise InferenceError(f"{who} fails on a plain question (HTTP {status})", "Look at the server's own log.")
    if not plain.understood:
        raise InferenceError(
            f"{who} does not answer as an OpenAI-compatible server does", "Correct base_url; it should end in /v1."
        )


def _server_kind(reply: Reply, replied_model: object, asked_model: str) -> str:
    """Tell a server by its replies, where its list of models does not."""
    if (reply.header(b"server") or "").lower().startswith("llama.cpp"):
        return "llama.cpp"
    revision = isinstance(replied_model, str) and asked_model and replied_model.startswith(asked_model + "@")
    return "transformers" if revision else "unknown"
