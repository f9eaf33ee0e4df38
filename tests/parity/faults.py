"""Which documented fault of upstream explains that the default differs. Each is a row of docs/scoring.md.

A rule looks at the instance, the answer and upstream's score; it never takes our own score's word for it.
"""

import re
from collections import Counter
from pathlib import Path

from agent.metrics import MetricUse
from agent.metrics.billing import upstream_codes
from agent.metrics.ehr_sql import NOW, find_query_or_abstention, is_empty_result, repair_query
from agent.metrics.exact import normalise
from agent.metrics.icd10 import find_named_codes, normalise_code, read_listed_codes
from agent.metrics.read_only_sql import run_query
from agent.reading.numbers import find_number
from agent.reading.words import plain_words, words_without_articles
from agent.vocabulary import Instance, Reason, Unscored

FAULTS = {
    "blank-is-wrong": "a blank answer is scored as a wrong one",
    "unread-is-wrong": "an answer that says nothing readable is scored as a wrong one",
    "bare-letter": "only the bare capital letter names an option",
    "words-lose-values": "quasi matches drop points, signs and articles that make another value",
    "prefix-in-a-word": "a prefix may end within a word or number",
    "medcalc-categories": "rows of category lab and dosage always score 0",
    "medcalc-bare-value": "a value counts only when it stands alone, in one spelling",
    "medcalc-swapped-limits": "limits given the other way round hold no value",
    "medec-bare-word": "anything but the bare word CORRECT reports an error",
    "medec-sentence": "the gold sentence is never read, so that naming it scores 0",
    "icd-syntax": "codes are cut at letters, lost, or found in words",
    "icd-points": "a code without its point is another code",
    "icd-no-code": "the precision of an answer without any code is 0",
    "rouge-no-words": "a reference without readable words scores 0",
    "rouge-stems": "ROUGE always stems, whatever the benchmark's own scorer does",
    "word-sets": "F1 counts each word once",
    "sql-unanswerable": "abstaining from a question without an answer is no success, or counts for or against others",
    "sql-results": "results are compared as sets, empty ones never agree, and parameters stand in for them",
    "sql-as-published": "published queries are run without the repair that they need",
    "sql-clock": "queries about today are run by the machine's clock, not by the moment they were written for",
    "sql-fences": "words around a query make it invalid",
}
"""Name of the fault -> what upstream does."""


def explain(
    use: MetricUse, instance: Instance, answer: str, ours: float | Unscored, upstream: float
) -> str | None:
    """Name the fault that makes upstream's score another one than ours; None: nothing documented does."""
    metric = use.name
    if not answer.strip():
        return "blank-is-wrong" if ours == Unscored(Reason.EMPTY) else None
    if metric.startswith("medcalc"):
        return _medcalc(instance, answer, ours, upstream)
    if metric.startswith("medec"):
        return _medec(metric, instance, answer, upstream)
    if metric.startswith("mimiciv"):
        return _billing(metric, instance, answer, upstream)
    if metric.startswith("ehr_sql"):
        return _sql(metric, instance, answer, ours, upstream)
    if metric.startswith("rouge"):
        if ours == Unscored(Reason.NO_REFERENCE):
            return "rouge-no-words" if upstream == 0 else None
        return "rouge-stems" if use.options.get("stemmer") is False else None
    return _text(metric, instance, answer, ours, upstream)


def _text(
    metric: str, instance: Instance, answer: str, ours: float | Unscored, upstream: float
) -> str | None:
    if instance.multiple_choice:
        letters = {chr(ord("A") + i): r.text for i, r in enumerate(instance.references)}
        if answer.strip() not in letters:
            return "bare-letter" if upstream == 0 else None
        answer = letters[answer.strip()]
    texts = [answer, *(r.text for r in instance.references if r.correct)]
    if metric == "f1_score" and any(
        max(Counter(normalise(t).split()).values(), default=0) > 1 for t in texts
    ):
        return "word-sets"
    if ours == 0 and upstream == 1 and "prefix" in metric:
        return "prefix-in-a-word"
    if metric.startswith(("quasi", "f1")) and not isinstance(ours, Unscored):
        # Anything but words in small letters: a mark, an article or another script may have made the difference.
        kept = any(
            normalise(t) != words_without_articles(t) or normalise(t) != plain_words(t)
            for t in texts
        )
        return "words-lose-values" if kept else None
    return None


def _medcalc(
    instance: Instance, answer: str, ours: float | Unscored, upstream: float
) -> str | None:
    category = instance.extra["category"]
    if upstream != 0:
        return None
    if category in {"lab", "lab test", "dosage"}:
        return "medcalc-categories"
    if ours == Unscored(Reason.UNPARSED):
        return "unread-is-wrong"
    low, high = (find_number(instance.extra[key]) for key in ("lower_limit", "upper_limit"))
    if low is not None and high is not None and low > high:
        return "medcalc-swapped-limits"
    gold = instance.references[0].text
    alone = {
        "physical": _is_number,
        "dosage conversion": _is_number,
        "date": lambda text: _is_date(text, gold),
    }
    is_alone = alone.get(category, lambda text: text == gold)
    return None if is_alone(answer.strip()) else "medcalc-bare-value"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_date(text: str, gold: str) -> bool:
    return (
        re.match(r"\('\d+ weeks'|\d{1,2}/\d{1,2}/\d{4}$", text) is not None and text[0] == gold[0]
    )


def _medec(metric: str, instance: Instance, answer: str, upstream: float) -> str | None:
    error = instance.references[0].text.strip(" .") != "CORRECT"
    if metric == "medec_error_sentence_accuracy" and error:
        return "medec-sentence" if upstream == 0 else None
    return "medec-bare-word" if answer.strip() != "CORRECT" else None


def _billing(metric: str, instance: Instance, answer: str, upstream: float) -> str | None:
    gold = instance.references[0].text
    theirs = [set(upstream_codes(text)) for text in (gold, answer)]
    ours = [read_listed_codes(gold), find_named_codes(answer)]
    if not any((theirs[1], ours[1])):
        return "icd-no-code" if metric.endswith("precision") and upstream == 0 else None
    if [{normalise_code(code) for code in codes} for codes in theirs] != ours:
        return "icd-syntax"
    return "icd-points" if len(theirs[0] & theirs[1]) < len(ours[0] & ours[1]) else None


def _sql(
    metric: str, instance: Instance, answer: str, ours: float | Unscored, upstream: float
) -> str | None:
    gold, query = instance.references[0].text, find_query_or_abstention(answer)
    if gold.strip().lower() == "null" or instance.extra["is_impossible"] == "true" or query == "":
        return "sql-unanswerable"
    if query is None:
        return "unread-is-wrong" if ours == Unscored(Reason.UNPARSED) else None
    if "answerable" in metric:
        return None
    if repair_query(gold) != gold or repair_query(query) != query:
        return "sql-as-published"
    if metric == "ehr_sql_query_validity":
        return "sql-fences" if query != answer.strip() and upstream == 0 else None
    database = Path(instance.extra["database"])
    if ours == Unscored(Reason.NO_REFERENCE):
        return "sql-results" if is_empty_result(run_query(database, gold, now=NOW).rows) else None
    rows = [run_query(database, sql, now=None).rows for sql in (gold, query)]
    if rows != [run_query(database, sql, now=NOW).rows for sql in (gold, query)]:
        return "sql-clock"
    return (
        "sql-results" if not all(rows) or any(len(set(some)) < len(some) for some in rows) else None
    )
