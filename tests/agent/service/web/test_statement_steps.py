"""Who did what with a statement: the audit log tells, whatever else is in it."""

from agent.service.web.statement_steps import list_steps
from agent.store import AuditEvent

DIGEST = "a" * 64


def event(name: str, detail: str, at: int = 1) -> AuditEvent:
    return AuditEvent(at, at, name, detail, "", "")


def test_steps_are_told_in_order_with_their_people():
    events = [
        event("plan drafted", f"digest={DIGEST} day=9 account=a1", 1),
        event("submission approved", f"digest={DIGEST} steward=k day=9 account=b2", 2),
        event("submission sent", f"digest={DIGEST} day=9", 3),
        event("dataset registered", f"benchmark=x statement={DIGEST} account=c3", 4),
        event("submission receipted", f"digest={DIGEST} account=b2", 5),
    ]
    steps = list_steps(events, DIGEST, {"a1": "dana", "b2": "stella"})
    assert [(step.words, step.person, step.at) for step in steps] == [
        ("drafted", "dana", 1),
        ("approved with the steward’s signature", "stella", 2),
        ("sent", "command line", 3),
        ("drafted", "c3", 4),
        ("accepted by the aggregator", "", 5),
    ]


def test_events_of_other_statements_and_other_kinds_are_left_out():
    events = [
        event("plan drafted", f"digest={'b' * 64} day=9 account=a1"),
        event("job queued", f"digest={DIGEST} account=a1"),
        event("submission sent", f"digest={DIGEST}a account=a1"),
        event("submission sent", "nothing"),
    ]
    assert list_steps(events, DIGEST, {}) == ()
