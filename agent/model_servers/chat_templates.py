"""The chat template of a model: how its engine joins the messages of a request to the text that the model reads.

Weights that are tuned to conversations bring their own. Without one, llama.cpp uses ChatML's form, which the model may
not know, so that its answers mean little; vLLM refuses every request.
"""

import hashlib
from pathlib import Path

from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError
from agent.io.model_folder import ModelFolderError
from agent.model_servers.gguf import read_header

TEMPLATE_ADVICE = (
    "Name one as chat_template in model_server; docs/deployments.md has one for models that are not tuned to "
    "conversations."
)
_MAX_BYTES = 1_000_000
_FOLDER_FILES = ("chat_template.jinja", "chat_template.json")
_TOKENIZER_CONFIG = "tokenizer_config.json"


def read_chat_template(server: ModelServer) -> str | None:
    """Return the text of the template that the deployment names, or None if it names none.

    Raises:
        ConfigError: the file cannot be read, is no text, is empty or is too long.
    """
    path = server.chat_template
    if path is None:
        return None
    problem = ""
    text = ""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        problem = "is not a text in UTF-8"
    else:
        if not text.strip():
            problem = "is empty"
        elif len(content) > _MAX_BYTES:
            problem = f"is longer than {_MAX_BYTES:,} bytes"
    if problem:
        raise ConfigError(
            f"model_server: chat_template: {path.name} {problem}",
            "Name a file with the model's chat template in Jinja's form, usually called chat_template.jinja.",
        )
    return text


def digest_with_template(weights: str, server: ModelServer) -> str:
    """Return the digest that identifies weights and template together; that of the weights without a template.

    Raises:
        ConfigError: the template cannot be read.
    """
    template = read_chat_template(server)
    if template is None:
        return weights
    own = hashlib.sha256(template.encode()).hexdigest()
    return hashlib.sha256(f"weights {weights}\nchat_template {own}\n".encode()).hexdigest()


def describe_missing_template(server: ModelServer) -> str:
    """Return a sentence if neither the weights nor the deployment have a chat template; otherwise ""."""
    if server.chat_template is not None or _has_template(server):
        return ""
    effect = (
        "llama.cpp writes questions in ChatML's form, which the model may not know, so that its answers mean little"
        if server.engine == "llamacpp"
        else "vLLM will refuse every question"
    )
    return f"{server.weights.name} has no chat template: {effect}."


def _has_template(server: ModelServer) -> bool:
    try:
        if server.engine == "llamacpp":
            header = read_header(server.weights)
            return header is None or header.has_chat_template
        return _folder_has_template(server.weights)
    except (OSError, ModelFolderError):
        return True  # what cannot be read is refused elsewhere, with its reason


def _folder_has_template(folder: Path) -> bool:
    if any((folder / name).is_file() for name in _FOLDER_FILES):
        return True
    return b'"chat_template"' in (folder / _TOKENIZER_CONFIG).read_bytes()
