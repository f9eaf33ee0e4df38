"""A suite's instances as JSON lines, each text through redaction."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.redaction import Redacted, open_redactor, reveal_record
from agent.site import Site
from agent.store import Store, StoredInstance
from agent.vocabulary import Unscored

PAGE = 200

ClearPage = Callable[[Sequence[Sequence[str]], str], list[list[Redacted]]]


def export_suite(site: Site, suite: str, path: Path, *, reveal: bool) -> int:
    """Write one line an instance of every run of the suite to the new file `path`; return how many.

    Texts are redacted under the site's policy; with `reveal` they are as they were, after an audit entry a page.
    Instance ids leave as keyed hashes. A purged text is null.
    """
    count = 0
    with site.store() as store:
        clear = _revealing(store) if reveal else _redacting(site.settings.redaction_policy)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            for run in store.runs(suite):
                for offset in range(0, store.count_instances(run.run_id), PAGE):
                    page = store.instances(run.run_id, offset, PAGE)
                    event = f"export run={run.run_id} instances={offset}-{offset + len(page) - 1}"
                    cleared = clear([_texts(stored) for stored in page], event)
                    for stored, texts in zip(page, cleared, strict=True):
                        line = {"run": run.name, **_line(stored, texts)}
                        file.write(json.dumps(line, ensure_ascii=False) + "\n")
                        count += 1
    return count


def _redacting(policy: str) -> ClearPage:
    redactor = open_redactor(policy)
    return lambda records, _: [redactor.redact_record(texts) for texts in records]


def _revealing(store: Store) -> ClearPage:
    def clear(records: Sequence[Sequence[str]], event: str) -> list[list[Redacted]]:
        shown = iter(reveal_record([t for texts in records for t in texts], lambda e: store.audit("reveal", e), event))
        return [[next(shown) for _ in texts] for texts in records]

    return clear


def _texts(stored: StoredInstance) -> list[str]:
    """Every text of a case in one stored instance, in the order in which `_line` takes them back."""
    instance, response = stored.instance, stored.response
    texts = [] if instance is None else [message.content for message in instance.messages]
    texts += [] if instance is None else [reference.text for reference in instance.references]
    texts += [] if response is None else [response.text, response.reasoning]
    return texts


def _line(stored: StoredInstance, texts: Sequence[Redacted]) -> dict[str, object]:
    instance, response = stored.instance, stored.response
    rest = iter(texts)
    return {
        "instance": stored.instance_key.hex()[:16],
        "messages": instance and [{"role": message.role, "content": next(rest)} for message in instance.messages],
        "references": instance
        and [{"text": next(rest), "correct": reference.correct} for reference in instance.references],
        "answer": response and next(rest),
        "reasoning": response and next(rest),
        "finish_reason": response and response.finish_reason,
        "scores": {
            metric: {"unscored": value.reason.value} if isinstance(value, Unscored) else value
            for metric, value in stored.scores.items()
        },
    }
