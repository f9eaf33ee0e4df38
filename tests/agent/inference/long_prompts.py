"""Prompts with a note that may be cut, and the note as a server got it."""

from agent.vocabulary import ChatRequest, Message, Shortenable
from tests.agent.fault_server import FaultServer


def note(length: int, number: int = 0) -> str:
    return " ".join(f"w{number}x{i}" for i in range(length))


def over_long(
    material: str, keep: str = "start", max_tokens: int = 20, **fields: object
) -> ChatRequest:
    before, after = "Instructions: read it all.\n\nNote: ", "\n\nQuestion: is it so?\nAnswer:"
    content = before + material + after
    part = Shortenable(0, len(before), len(before) + len(material), keep)
    return ChatRequest(
        "test-model", (Message("user", content),), max_tokens, shortenable=part, **fields
    )


def sent_note(server: FaultServer) -> str:
    """The note as the server got it; fails if anything around it was touched."""
    (prompt,) = {asked.prompt for asked in server.asked if "Instructions" in asked.prompt}
    before, after = "Instructions: read it all.\n\nNote: ", "\n\nQuestion: is it so?\nAnswer:"
    assert prompt.startswith(before)
    assert prompt.endswith(after)
    return prompt.removeprefix(before).removesuffix(after)
