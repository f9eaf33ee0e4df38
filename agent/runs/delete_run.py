"""Delete a run with its texts: after that, nothing in the store tells what it asked, or what came back."""

from agent.errors import ConfigError
from agent.review.sample import list_texts
from agent.runs.waiting_submissions import describe_submissions, list_waiting_submissions
from agent.site.directory import Site
from agent.store import COMMAND_LINE, JobState, Run, RunContent, Store


def delete_run(site: Site, store: Store, run: Run, *, by: str = COMMAND_LINE) -> RunContent:
    """Delete a run: its scores, verdicts, answers and questions, as far as no other run has them too.

    Copies of its texts in samples for the review of redaction are deleted as well. What left the site, the ledger, the
    audit log and the logs of jobs stay.

    Args:
        site: the site.
        store: its open store.
        run: the run.
        by: id of the account that asks, for the audit log.

    Returns:
        What was deleted.

    Raises:
        ConfigError: see `check_deletable`.
        StoreError: another process works on the run, or the store cannot be written.
    """
    check_deletable(site, store, run)
    with store.runs.lock(run.run_id):
        with store.transaction():
            _purge_reviewed_texts(store, run)
            content = store.delete_run(run.run_id)
            store.audit.record(
                "run deleted",
                f"run={run.run_id} instances={content.instances} texts={content.texts} account={by}",
            )
        store.rewrite_file()
    return content


def check_deletable(site: Site, store: Store, run: Run) -> None:
    """Check that nothing needs a run.

    Raises:
        ConfigError: a job works on its suite, or a submission without a receipt was prepared from it.
    """
    for job in store.jobs.list_open():
        if job.state is not JobState.QUEUED and job.command.suite == run.suite:
            raise ConfigError(
                f"job {job.job_id} works on the suite of this run",
                "Wait until it has ended, or cancel it.",
            )
    waiting = list_waiting_submissions(site, run)
    if waiting:
        raise ConfigError(
            f"the outbox needs this run: {describe_submissions(waiting)}",
            "Discard the draft, or wait for the receipt.",
        )


def _purge_reviewed_texts(store: Store, run: Run) -> None:
    """Delete the copies of a run's texts in samples for the review of redaction; the marks' counts stay."""
    copies: dict[str, list[tuple[str, int]]] = {}
    for review in store.reviews.read_all():
        for text in store.reviews.read_texts(review.name):
            if text.content is not None:
                copies.setdefault(text.content["text"], []).append((review.name, text.item))
    if not copies:
        return
    positions = range(store.answers.count_instances(run.run_id))
    for stored in store.answers.read_each_instance(run.run_id, positions):
        if stored.instance is None:
            continue
        for words in list_texts(stored.instance, stored.response):
            for name, item in copies.pop(words, ()):
                store.reviews.purge_text(name, item)
