"""Count the tokens of a prompt: requests to a server and their replies, or a tokenizer file.

There are three means. vLLM counts whole conversations with the model's chat template; llama.cpp's server and a
tokenizer file count plain text, to which the template's own tokens are added, as many as the probe saw it add.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agent.errors import ConfigError
from agent.inference.endpoint import Endpoint
from agent.inference.wire import encode_object, read_token_count
from agent.vocabulary import Message

Counting = Literal["vllm", "llama.cpp", "tokenizer_file"]
Served = Literal["vllm", "llama.cpp"]  # by the server itself
TOKENIZE = "../tokenize"  # beside the base address's /v1
UNSEEN_TEMPLATE_TOKENS = (
    64  # allowed for a chat template where the probe could not see what it adds
)
_FURTHER_MESSAGE_TOKENS = 16  # written by a template around each message after the first
_MAX_TEMPLATE_TOKENS = 8192  # templates with long system texts of their own stay below


def encode_count(counting: Served, model: str, messages: Sequence[Message]) -> bytes:
    """Return the body that asks for the tokens of `messages`."""
    if counting == "vllm":
        texts = [{"role": message.role, "content": message.content} for message in messages]
        return encode_object({"model": model, "messages": texts})
    return encode_object({"content": _join(messages), "add_special": False, "parse_special": False})


def read_count(
    counting: Served, reply: Mapping[str, object], messages: Sequence[Message]
) -> int | None:
    """Read the reply to `encode_count`; None when it holds no count that these messages can have.

    A token is at least one byte of a text, and a text has at least one.
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
    """Return the bytes of the messages' texts: no tokenizer that models are served with makes more tokens of them."""
    length = 0
    for message in messages:
        text = message.content
        length += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return length


def estimate_template_tokens(messages: Sequence[Message], first: int) -> int:
    """Return at most how many tokens the chat template adds, when it adds `first` to a single message."""
    return first + _FURTHER_MESSAGE_TOKENS * (len(messages) - 1)


def infer_template_tokens(counting: Counting, counted: int, reported: int) -> int | None:
    """Return how many tokens the template adds to the count of one message; None if the two counts cannot both be true.

    Args:
        counting: the means of counting.
        counted: the count of a prompt of one message.
        reported: the same prompt's tokens, as reported with the answer to it.
    """
    if counting == "vllm":  # it counts the template in
        return reported if reported == counted else None
    added = reported - counted
    # At their border, text and template may share a token.
    return max(added, 0) if -2 <= added <= _MAX_TEMPLATE_TOKENS else None


def open_tokenizer(deployment: Endpoint) -> Callable[[Sequence[Message]], int] | None:
    """Return a function that counts by the deployment's tokenizer file, without the template; None if it has none.

    Raises:
        ConfigError: the file is not there or no tokenizer, or the package that reads it is not installed.
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
            "Install it: pip install 'intramural[tokenizer]'; or leave tokenizer_file out.",
        ) from None
    except Exception:  # noqa: BLE001 - the package raises no type of its own
        raise ConfigError(
            f"{setting} is no tokenizer of the Hugging Face form (tokenizer.json)"
        ) from None


@lru_cache(maxsize=4)
def _load_tokenizer(path: Path, _version: tuple[int, int]) -> Callable[[Sequence[Message]], int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()  # the file may ask for either, and a cut text would be counted short
    tokenizer.no_padding()

    def count(messages: Sequence[Message]) -> int:
        text = _join(messages).encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _join(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)
