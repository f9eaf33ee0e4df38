"""Encode instances and responses as bytes for sealing: compact JSON arrays whose shape depends on the version."""

import json
from dataclasses import replace

from agent.vocabulary import (
    Identifier,
    Instance,
    Message,
    OptionLikelihood,
    PromptCell,
    Reference,
    Response,
    Shortenable,
)

# `json.dumps` would make a new encoder for each record.
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def encode_instance(instance: Instance) -> bytes:
    """Return the instance as bytes; equal instances give equal bytes."""
    return add_origin(encode_question(instance), instance)


def add_origin(question: bytes, instance: Instance) -> bytes:
    """Return the bytes of `encode_instance` from those of `encode_question`, without encoding the prompt again.

    What is added is where the texts of the question come from: its cells and the source of its data.
    """
    if instance.cells is None and not instance.source:
        return question
    cells: list[list[object]] | None = None
    if instance.cells is not None:
        cells = [[cell.message, cell.start, cell.end, cell.column] for cell in instance.cells]
    version = b"[5" if instance.source else b"[4"
    identifiers = b"" if instance.identifiers else b",[]"
    source = b"," + _write_json(instance.source) if instance.source else b""
    return version + question[2:-1] + identifiers + b"," + _write_json(cells) + source + b"]"


def encode_question(instance: Instance) -> bytes:
    """Return the instance as bytes without its cells and its source, as earlier versions wrote it.

    They change neither the question nor its scores, so a run that was begun by an earlier version goes on.
    """
    return _write_json(_list_contents(instance))


def _write_json(content: object) -> bytes:
    return _ENCODER.encode(content).encode()


def _list_contents(instance: Instance) -> list[object]:
    """Return the version of the format and all fields except the cells and the source."""
    shortenable: list[object] | None = None
    if instance.shortenable is not None:
        part = instance.shortenable
        shortenable = [part.message, part.start, part.end, part.keep]
    content: list[object] = [
        2,
        instance.id,
        instance.unit,
        [[message.role, message.content] for message in instance.messages],
        [[reference.text, reference.correct] for reference in instance.references],
        instance.multiple_choice,
        dict(sorted(instance.extra.items())),
        dict(sorted(instance.subgroups.items())),
        shortenable,
    ]
    # Instances without identifiers are written in the older format, so that their keys in the store stay the same.
    if instance.identifiers:
        content[0] = 3
        content.append(
            [[identifier.entity, identifier.value] for identifier in instance.identifiers]
        )
    return content


def decode_instance(data: bytes) -> Instance:
    """Decode an instance encoded by `encode_instance`."""
    # Version 1 ends with `extra`, version 2 before the identifiers, version 3 before the cells, and version 4 before
    # the source.
    _, identity, unit, messages, references, multiple_choice, extra, *newer = json.loads(data)
    subgroups = newer[0] if newer else {}
    part = newer[1] if newer else None
    identifiers = newer[2] if len(newer) > 2 else []
    cells = newer[3] if len(newer) > 3 else None
    source = newer[4] if len(newer) > 4 else ""
    return Instance(
        id=identity,
        unit=unit,
        messages=tuple(Message(role, content) for role, content in messages),
        references=tuple(Reference(text, correct) for text, correct in references),
        multiple_choice=multiple_choice,
        extra=extra,
        subgroups=subgroups,
        shortenable=Shortenable(*part) if part else None,
        identifiers=tuple(Identifier(entity, value) for entity, value in identifiers),
        cells=None if cells is None else tuple(PromptCell(*cell) for cell in cells),
        source=source,
    )


def encode_response(response: Response) -> bytes:
    """Return the response as bytes."""
    content: list[object] = [
        1,
        response.text,
        response.reasoning,
        response.finish_reason,
        response.prompt_tokens,
        response.completion_tokens,
        response.seconds,
        response.shortened,
        response.attempts,
    ]
    # Responses without likelihoods are written in the older format, which earlier versions can read.
    if response.likelihoods:
        content[0] = 2
        content.append([[each.option, each.logprob] for each in response.likelihoods])
    return _write_json(content)


def decode_response(data: bytes) -> Response:
    """Decode a response encoded by `encode_response`."""
    version, *fields = json.loads(data)
    if version == 1:
        return Response(*fields)
    *fields, stored_likelihoods = fields
    likelihoods = tuple(OptionLikelihood(*each) for each in stored_likelihoods)
    return replace(Response(*fields), likelihoods=likelihoods)
