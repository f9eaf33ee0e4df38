"""How instances and responses are written before sealing: compact JSON arrays, one shape a version."""

import json

from agent.vocabulary import Instance, Message, Reference, Response, Shortenable


def encode_instance(instance: Instance) -> bytes:
    """Return the instance as bytes; equal instances give equal bytes."""
    return json.dumps(
        [
            2,
            instance.id,
            instance.unit,
            [[message.role, message.content] for message in instance.messages],
            [[reference.text, reference.correct] for reference in instance.references],
            instance.multiple_choice,
            dict(sorted(instance.extra.items())),
            dict(sorted(instance.subgroups.items())),
            [part.message, part.start, part.end, part.keep] if (part := instance.shortenable) else None,
        ],
        separators=(",", ":"),
    ).encode()


def decode_instance(data: bytes) -> Instance:
    """Return what `encode_instance` was given."""
    # Version 1, of the first sites, ends with `extra`.
    _, identity, unit, messages, references, multiple_choice, extra, *newer = json.loads(data)
    subgroups, part = newer or ({}, None)
    return Instance(
        identity,
        unit,
        tuple(Message(role, content) for role, content in messages),
        tuple(Reference(text, correct) for text, correct in references),
        multiple_choice,
        extra,
        subgroups,
        Shortenable(*part) if part else None,
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
            response.shortened,
            response.attempts,
        ],
        separators=(",", ":"),
    ).encode()


def decode_response(data: bytes) -> Response:
    """Return what `encode_response` was given."""
    return Response(*json.loads(data)[1:])
