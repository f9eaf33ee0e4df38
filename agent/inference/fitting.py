"""Sees to it that a prompt fits before it is asked: who counts its tokens, against which budget."""

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
    open_tokenizer,
    read_count,
    template_tokens,
)
from agent.inference.window import prompt_budget, window_of
from agent.inference.wire import parse_object
from agent.vocabulary import ChatRequest, Failure, Message, Reason


class Fitting:
    """What all workers of one call know of the window and of who counts."""

    def __init__(self, deployment: Endpoint, capabilities: Capabilities | None, prompt_limit: int | None) -> None:
        """Open the tokenizer file, if it is what counts.

        Raises:
            ConfigError: it cannot be used.
        """
        self._model = deployment.served_model
        self._window = window_of(deployment, capabilities)
        self._prompt_limit = prompt_limit
        self._first_template = capabilities.template_tokens if capabilities else UNSEEN_TEMPLATE_TOKENS
        counting = capabilities.counting if capabilities else None
        self._served: Served | None = counting if counting in ("vllm", "llama.cpp") else None
        self._tokenizer = open_tokenizer(deployment) if self._served is None else None

    async def fit(self, request: ChatRequest, conversation: Conversation, deadline: float) -> Fitted | Failure:
        """Return the request as it can be asked, or why it cannot."""
        budget = prompt_budget(self._window, request.max_tokens, self._prompt_limit)
        if budget is None:
            return Fitted(request)
        template = template_tokens(request.messages, self._first_template)
        if not self.can_count:
            return self._uncounted(request, budget, template)
        return await fit(request, budget, template, lambda messages: self.count(messages, conversation, deadline))

    @property
    def can_count(self) -> bool:
        """Whether anybody counts."""
        return self._served is not None or self._tokenizer is not None

    def _uncounted(self, request: ChatRequest, budget: int, template: int) -> Fitted | Failure:
        """Decide where nobody counts: a server refuses what does not fit its window, but knows of no other limit."""
        limit = self._prompt_limit
        above_limit = limit is not None and byte_length(request.messages) + template > limit
        return Failure(Reason.CONTEXT_LENGTH) if above_limit or budget < 1 else Fitted(request)

    async def count(self, messages: Sequence[Message], conversation: Conversation, deadline: float) -> int | Failure:
        """Count the tokens of a prompt, those of the chat template included; only where somebody can."""
        served = self._served
        template = template_tokens(messages, self._first_template)
        if served is None:
            assert self._tokenizer is not None
            return template + await asyncio.to_thread(self._tokenizer, messages)

        def read(body: bytes, *, seconds: float) -> int | Failure:  # noqa: ARG001 - a reader is told
            counted = read_count(served, parse_object(body) or {}, messages)
            return Failure(Reason.BAD_REPLY, 200) if counted is None else counted

        body = encode_count(served, self._model, messages)
        counted, _ = await conversation.ask(TOKENIZE, body, read, deadline)
        if isinstance(counted, Failure) or served == "vllm":
            return counted
        return template + counted
