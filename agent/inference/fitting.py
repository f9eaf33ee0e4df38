"""Count the tokens of a prompt before it is sent, and shorten the prompt if it is too long."""

import asyncio
from collections.abc import Sequence

from agent.inference.capabilities import Capabilities
from agent.inference.conversation import Conversation
from agent.inference.endpoint import Endpoint
from agent.inference.shorten import Fitted, fit
from agent.inference.tokens import (
    TOKENIZE,
    UNSEEN_TEMPLATE_TOKENS,
    Served,
    byte_length,
    encode_count,
    estimate_template_tokens,
    open_tokenizer,
    read_count,
)
from agent.inference.window import prompt_budget, window_of
from agent.inference.wire import parse_object
from agent.vocabulary import ChatRequest, Failure, Message, Reason


class Fitting:
    """The window, and the method of counting tokens, which all workers of a call share."""

    def __init__(
        self, deployment: Endpoint, capabilities: Capabilities | None, prompt_limit: int | None
    ) -> None:
        """Open the tokenizer file if the server cannot count tokens.

        Raises:
            ConfigError: the file cannot be used.
        """
        served_as = capabilities.served_as if capabilities else ""
        self._model = served_as or deployment.served_model
        self._window = window_of(deployment, capabilities)
        self._prompt_limit = prompt_limit
        self._first_template = (
            capabilities.template_tokens if capabilities else UNSEEN_TEMPLATE_TOKENS
        )
        counting = capabilities.counting if capabilities else None
        self._served: Served | None = counting if counting in ("vllm", "llama.cpp") else None
        self._tokenizer = open_tokenizer(deployment) if self._served is None else None

    async def fit(
        self, request: ChatRequest, conversation: Conversation, deadline: float
    ) -> Fitted | Failure:
        """Return the request, shortened if necessary, or the reason why it cannot be sent."""
        budget = prompt_budget(self._window, request.max_tokens, self._prompt_limit)
        if budget is None:
            return Fitted(request)
        template = estimate_template_tokens(request.messages, self._first_template)
        if not self.can_count:
            return self._accept_uncounted(request, budget, template)
        return await fit(
            request, budget, template, lambda messages: self.count(messages, conversation, deadline)
        )

    @property
    def can_count(self) -> bool:
        """Whether the server or a tokenizer file can count tokens."""
        return self._served is not None or self._tokenizer is not None

    def _accept_uncounted(
        self, request: ChatRequest, budget: int, template: int
    ) -> Fitted | Failure:
        """Accept or refuse a request without counting tokens.

        The server refuses prompts that do not fit in its window, so only the prompt limit is checked here.
        """
        limit = self._prompt_limit
        is_above_limit = limit is not None and byte_length(request.messages) + template > limit
        if is_above_limit or budget < 1:
            return Failure(Reason.CONTEXT_LENGTH)
        return Fitted(request)

    async def count(
        self, messages: Sequence[Message], conversation: Conversation, deadline: float
    ) -> int | Failure:
        """Count the tokens of a prompt, including those of the chat template. Requires `can_count`."""
        served = self._served
        template = estimate_template_tokens(messages, self._first_template)
        if served is None:
            assert self._tokenizer is not None
            return template + await asyncio.to_thread(self._tokenizer, messages)

        def read(body: bytes, *, seconds: float) -> int | Failure:  # noqa: ARG001 - the signature of a reader
            counted = read_count(served, parse_object(body) or {}, messages)
            return Failure(Reason.BAD_REPLY, 200) if counted is None else counted

        body = encode_count(served, self._model, messages)
        counted, _ = await conversation.ask(TOKENIZE, body, read, deadline)
        if isinstance(counted, Failure) or served == "vllm":
            return counted
        return template + counted
