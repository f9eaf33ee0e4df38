"""A suite's instances as JSON lines, each text through redaction."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from agent.redaction import Redacted, open_redactor, reveal_record
from agent.site import Site
from agent.store import StoredInstance
from agent.vocabulary import Unscored

PAGE = 200


def export_suite(site: Site, suite: str, path: Path, *, reveal: bool) -> int:
    """Write one line an instance of every run of the suite to the new file `path`; return how many.

    Texts are redacted under the site's policy; with `reveal` they are as they were, after an audit entry.
    Instance ids leave as keyed hashes. A purged text is null.
    """
    count = 0
    with site.store() as store, path.open("x", encoding="utf-8", opener=_owner_only) as file:
        clear: Callable[[Sequence[str]], list[Redacted]]
        if reveal:
            clear = partial(reveal_record, audit=partial(store.audit, "reveal"), event=f"export suite={suite}")
        else:
            clear = open_redactor(site.settings.redaction_policy).redact_record
        for run in store.runs(suite):
            for offset in range(0, store.count_instances(run.run_id), PAGE):
                for stored in store.instances(run.run_id, offset, PAGE):
                    line = {"run": run.name, **_line(stored, clear)}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    count += 1
    return count


def _owner_only(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _line(stored: StoredInstance, clear: Callable[[Sequence[str]], list[Redacted]]) -> dict[str, object]:
    instance, response = stored.instance, stored.response
    texts: list[str] = []
    if instance is not None:
        texts += [message.content for message in instance.messages] + [ref.text for ref in instance.references]
    if response is not None:
        texts += [response.text, response.reasoning]
    rest = iter(clear(texts))
    return {
        "instance": stored.instance_key.hex()[:16],
        "messages": None
        if instance is None
        else [{"role": message.role, "content": next(rest)} for message in instance.messages],
        "references": None
        if instance is None
        else [{"text": next(rest), "correct": reference.correct} for reference in instance.references],
        "answer": None if response is None else next(rest),
        "reasoning": None if response is None else next(rest),
        "finish_reason": None if response is None else response.finish_reason,
        "scores": {
            metric: {"unscored": value.reason.value} if isinstance(value, Unscored) else value
            for metric, value in stored.scores.items()
        },
    }
