"""How instances and responses are written before sealing: compact JSON arrays, one shape a version."""

import json

from agent.vocabulary import Instance, Message, Reference, Response


def encode_instance(instance: Instance) -> bytes:
    """Return the instance as bytes; equal instances give equal bytes."""
    return json.dumps(
        [
            1,
            instance.id,
            instance.unit,
            [[message.role, message.content] for message in instance.messages],
            [[reference.text, reference.correct] for reference in instance.references],
            instance.multiple_choice,
            dict(sorted(instance.extra.items())),
        ],
        separators=(",", ":"),
    ).encode()


def decode_instance(data: bytes) -> Instance:
    """Return what `encode_instance` was given."""
    _, identity, unit, messages, references, multiple_choice, extra = json.loads(data)
    return Instance(
        identity,
        unit,
        tuple(Message(role, content) for role, content in messages),
        tuple(Reference(text, correct) for text, correct in references),
        multiple_choice,
        extra,
    )


def encode_response(response: Response) -> bytes:
    """Return the response as bytes."""
    return json.dumps(
        [
            1,
            response.text,
            response.reasoning,
            response.finish_reason,
            response.prompt_tokens,
            response.completion_tokens,
            response.seconds,
        ],
        separators=(",", ":"),
    ).encode()


def decode_response(data: bytes) -> Response:
    """Return what `encode_response` was given."""
    return Response(*json.loads(data)[1:])
