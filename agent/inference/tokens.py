"""Count the tokens of a prompt, by requests to the server or with a tokenizer file.

There are three methods. vLLM counts whole conversations, including the model's chat template. llama.cpp's server and a
tokenizer file count plain text, to which the number of template tokens found by the probe is added.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agent.errors import ConfigError
from agent.inference.endpoint import Endpoint
from agent.inference.wire import encode_object, read_token_count
from agent.io.install_hint import describe_install
from agent.vocabulary import Message

Counting = Literal["vllm", "llama.cpp", "tokenizer_file"]
Served = Literal["vllm", "llama.cpp"]  # methods by which the server itself counts
TOKENIZE = "../tokenize"  # replaces /v1 in the base address
# Assumed for a chat template if the probe could not determine its tokens.
UNSEEN_TEMPLATE_TOKENS = 64
_FURTHER_MESSAGE_TOKENS = 16  # maximum that a template adds for each message after the first
_MAX_TEMPLATE_TOKENS = 8192  # larger than any known template, even with a long system prompt


def encode_count(counting: Served, model: str, messages: Sequence[Message]) -> bytes:
    """Return the body of a request for the number of tokens in `messages`."""
    if counting == "vllm":
        texts = [{"role": message.role, "content": message.content} for message in messages]
        return encode_object({"model": model, "messages": texts})
    return encode_object({"content": _join(messages), "add_special": False, "parse_special": False})


def read_count(
    counting: Served, reply: Mapping[str, object], messages: Sequence[Message]
) -> int | None:
    """Return the count in the reply to `encode_count`, or None if it is missing or impossible for these messages.

    A token has at least one byte, and a prompt has at least one token.
    """
    if counting == "vllm":
        count = read_token_count(reply.get("count"))
    else:
        tokens = reply.get("tokens")
        count = len(tokens) if isinstance(tokens, list) else None
    if count is None or not 1 <= count <= byte_length(messages) + _MAX_TEMPLATE_TOKENS:
        return None
    return count


def byte_length(messages: Sequence[Message]) -> int:
    """Return the number of bytes in the messages' texts, which is an upper bound on the number of their tokens."""
    length = 0
    for message in messages:
        text = message.content
        length += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return length


def estimate_template_tokens(messages: Sequence[Message], first: int) -> int:
    """Return the maximum number of tokens that the chat template adds, if it adds `first` to a single message."""
    return first + _FURTHER_MESSAGE_TOKENS * (len(messages) - 1)


def infer_template_tokens(counting: Counting, counted: int, reported: int) -> int | None:
    """Return the number of tokens that the template adds to one message, or None if the two counts are inconsistent.

    Args:
        counting: the method of counting.
        counted: the count for a prompt with one message.
        reported: the number of tokens in the same prompt, as reported with its answer.
    """
    if counting == "vllm":  # vLLM's count includes the template
        return reported if reported == counted else None
    added = reported - counted
    # Where text and template meet, they may share a token, so the difference can be slightly negative.
    return max(added, 0) if -2 <= added <= _MAX_TEMPLATE_TOKENS else None


def open_tokenizer(deployment: Endpoint) -> Callable[[Sequence[Message]], int] | None:
    """Return a function that counts tokens with the deployment's tokenizer file, if any, and without the template.

    Raises:
        ConfigError: the file is missing or not a tokenizer, or the package that reads it is not installed.
    """
    path = deployment.tokenizer_file
    if path is None:
        return None
    setting = f"deployment {deployment.name}: tokenizer_file"
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(f"{setting} cannot be read ({error.strerror})") from None
    try:
        return _load_tokenizer(path, (status.st_mtime_ns, status.st_size))
    except ImportError:
        raise ConfigError(
            f"{setting}: the package that reads it is not installed",
            f"{describe_install('tokenizer')} Or omit tokenizer_file.",
        ) from None
    except Exception:  # noqa: BLE001 - the package does not have its own type of exception
        raise ConfigError(
            f"{setting} is not a tokenizer in the Hugging Face format (tokenizer.json)"
        ) from None


@lru_cache(maxsize=4)
def _load_tokenizer(path: Path, _version: tuple[int, int]) -> Callable[[Sequence[Message]], int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # The file may enable truncation or padding, which would change the count.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(messages: Sequence[Message]) -> int:
        text = _join(messages).encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _join(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)
