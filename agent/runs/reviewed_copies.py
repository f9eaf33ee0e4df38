"""Delete the copies of texts in samples for the review of redaction that no run has any more."""

from agent.review.sample import list_texts
from agent.store import Run, Store


def purge_copies(store: Store, run: Run) -> int:
    """Delete the copies in samples of a run's suite of texts that no other run of the suite shows; return their number.

    The marks go with them; their counts stay. Copies of texts of earlier plans of the run, which no run has any more,
    are deleted as well.

    Args:
        store: the store.
        run: the run that is deleted, or kept from others. Other private runs do not count: samples have none of their
            texts.
    """
    copies: dict[str, list[tuple[str, int]]] = {}
    for review in store.reviews.read_all():
        if review.plan["suite"] != run.suite:
            continue
        for text in store.reviews.read_texts(review.name):
            if text.content is not None:
                copies.setdefault(text.content["text"], []).append((review.name, text.item))
    for other in store.runs.select(run.suite):
        if copies and other.run_id != run.run_id and not other.is_private:
            _leave_out_texts(store, other, copies)
    purged = 0
    for items in copies.values():
        for name, item in items:
            store.reviews.purge_text(name, item)
            purged += 1
    return purged


def _leave_out_texts(store: Store, run: Run, copies: dict[str, list[tuple[str, int]]]) -> None:
    for stored in store.answers.read_each_instance(run.run_id):
        if stored.instance is not None:
            for words in list_texts(stored.instance, stored.response):
                copies.pop(words, None)
