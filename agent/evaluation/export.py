"""A suite's instances as JSON lines, each text through redaction."""

import json
import os
from pathlib import Path

from agent.evaluation.progress import Progress
from agent.redaction.clearing import ClearedCase, open_clearer
from agent.site import Site
from agent.vocabulary import Unscored

PAGE = 200  # instances in memory at a time, and to an audit entry


def export_suite(site: Site, suite: str, path: Path, *, reveal: bool, progress: Progress | None = None) -> int:
    """Write one line an instance of every run of the suite to the new file `path`; return how many.

    Texts are redacted under the site's policy and ids left out; with `reveal` both are as they were, after an audit
    entry a page. A purged text is null. Write into `agent.new_folder.new_folder`, so that a failure leaves nothing.
    """
    progress = progress or Progress()
    count = 0
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="export")
        runs = store.runs(suite)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            progress.begin("instances", sum(store.count_instances(run.run_id) for run in runs))
            for run in runs:
                for offset in range(0, store.count_instances(run.run_id), PAGE):
                    for case in clearer.clear(run.run_id, store.instances(run.run_id, offset, PAGE)):
                        file.write(json.dumps({"run": run.name, **_line(case)}, ensure_ascii=False) + "\n")
                        count += 1
                        progress.advance()
            progress.end()
    return count


def _line(case: ClearedCase) -> dict[str, object]:
    return {
        "instance": case.key,
        "id": case.id,
        "messages": None
        if case.prompt is None
        else [{"role": message.role, "content": message.text} for message in case.prompt],
        "references": None
        if case.references is None
        else [{"text": reference.text, "correct": reference.correct} for reference in case.references],
        "answer": case.answer,
        "reasoning": case.reasoning,
        "finish_reason": case.finish_reason,
        "scores": {
            metric: {"unscored": score.reason.value} if isinstance(score, Unscored) else score
            for metric, score in case.scores.items()
        },
    }
