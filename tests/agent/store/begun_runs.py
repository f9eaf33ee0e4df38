"""Runs that a store began, of cases with a canary in every text."""

from agent.store import RunDetails, Store
from agent.vocabulary import Instance, Message, Reference, Response

CANARY = "Zebulon Quackenbush-7731"
KEY = bytes(range(32))
AUDIT_KEY = bytes(range(32))


def instance(number: int, text: str = CANARY) -> Instance:
    return Instance(
        f"{text} id {number}",
        f"{text} unit {number // 2}",
        (Message("user", f"{text} prompt {number}"),),
        (Reference(f"{text} gold", correct=True),),
        extra={"limit": text},
    )


def response(text: str = CANARY) -> Response:
    return Response(text, f"{text} thought", "stop", 10, 2, 0.1)


def begin(
    store: Store, count: int = 4, scored_by: tuple[str, ...] = ("exact_match",)
) -> tuple[str, list[bytes]]:
    keys = [store.identities.request_key("local/m", f"request {i}".encode()) for i in range(count)]
    run_id = store.runs.begin(
        suite="s",
        name="b:model=m",
        benchmark="b",
        lineage="l",
        model="m",
        deployment="local/m",
        details=RunDetails(),
        planned=[(instance(i), key) for i, key in enumerate(keys)],
        scored_by=scored_by,
    )
    return run_id, keys
