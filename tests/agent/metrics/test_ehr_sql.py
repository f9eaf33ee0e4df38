"""EHRSQL: queries that a model wrote are run on a real database, and can do nothing there but read for a while."""

import hashlib
import sqlite3
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.io.packaged import shipped
from agent.metrics import score
from agent.metrics.ehr_sql import (
    NOW,
    find_query_or_abstention,
    is_same_result,
    repair_query,
    show_query,
)
from agent.metrics.read_only_sql import run_query
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored

EXECUTION = "ehr_sql_execution_accuracy"
VALIDITY = "ehr_sql_query_validity"
PRECISION = "ehr_sql_precision_answerable"
RECALL = "ehr_sql_recall_answerable"
GOLD = "select distinct name, dose from drug where dose > 1"


@pytest.fixture
def asked(database):
    """Make an instance: a published query, or None for a question without an answer."""

    def make(gold: str | None = GOLD, value: str = '{"drug_name": "aspirin"}') -> Instance:
        extra = {
            "database": str(database),
            "is_impossible": str(gold is None).lower(),
            "value": value,
        }
        return Instance(
            "1", "1", (Message("user", "?"),), (Reference(gold or "null", True),), extra=extra
        )

    return make


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "sql",
    [
        "delete from drug",
        "DROP TABLE drug;",
        "update drug set dose = 0",
        "insert into drug values ('x', 1, '')",
        "create table other (a)",
        "create temp table other (a)",
        "create view other as select 1",
        "attach database '{other}' as other",
        "attach ':memory:' as other",
        "vacuum into '{other}'",
        "pragma writable_schema = 1",
        "pragma table_info(drug)",
        "select * from pragma_table_info('drug')",
        "select load_extension('{other}')",
        "select writefile('{other}', 'x')",
        "select readfile('/etc/passwd')",
        "select fts3_tokenizer('simple')",
        "select randomblob(1000000000)",
        "begin; delete from drug; commit",
        "with gone as (select 1) delete from drug",
        "select 1; drop table drug",
    ],
)
def test_a_query_that_writes_attaches_or_reaches_out_changes_nothing_and_is_wrong(
    sql, database, asked, tmp_path
):
    before, files = digest(database), set(tmp_path.iterdir())
    sql = sql.format(other=tmp_path / "other.sqlite")
    assert run_query(database, sql).ended in ("refused", "failed")
    for scoring in ("intramural", "helm"):
        assert score(EXECUTION, sql, asked(), scoring) == 0.0
    assert score(VALIDITY, f"```sql\n{sql}\n```", asked()) == 0.0
    assert (digest(database), set(tmp_path.iterdir())) == (before, files)


def test_a_query_that_returns_a_million_rows_is_valid_and_wrong_and_not_kept(database, asked):
    rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select i from n"
    assert run_query(database, rows) == run_query(database, rows, max_rows=5)
    assert run_query(database, rows).ended == "too_much"
    assert (score(EXECUTION, rows, asked()), score(VALIDITY, rows, asked())) == (0.0, 1.0)


@pytest.mark.parametrize(
    "sql", ["select", "select nothing from nowhere", "select 1\0", "select '", "with", "values"]
)
def test_what_is_no_query_fails(sql, database):
    assert run_query(database, sql).ended == "failed"


@pytest.mark.parametrize("sql", ["select nothing from nowhere", "select 1\0", "select nothing"])
def test_a_query_that_fails_is_invalid(sql, asked):
    assert score(VALIDITY, sql, asked()) == 0.0


@pytest.mark.parametrize(
    "answer", ["select", "with", "select '", "select name from drug where", "select name from ("]
)
def test_a_query_that_is_cut_off_has_no_score(answer, asked):
    assert score(VALIDITY, answer, asked()) == Unscored(Reason.UNPARSED)


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("select 1;", "select 1;"),
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        (
            "Here you are:\n```\nwith a as (select 1) select * from a\n```\nIt counts.",
            "with a as (select 1) select * from a",
        ),
        ("<sql>select 1</sql>", "select 1"),
        ("SQL query: select 1", "select 1"),
        ("This counts them:\nselect count(*)\nfrom drug;", "select count(*)\nfrom drug;"),
        ("DELETE FROM drug", "DELETE FROM drug"),
        ("null", ""),
        ("NULL;", ""),
        ("`null`", ""),
        ('""', ""),
        ("```sql\n```", None),
        ("SELECT NULL;", ""),
        ("Unanswerable.", ""),
        ("-- no table holds appointments", ""),
        ("-- counts them\nselect 1", "-- counts them\nselect 1"),
        ("The question cannot be answered from these tables.", ""),
        ("The answer is null.", ""),
        ("null (the tables do not hold it)", ""),
        ("NULL\n\nThere is no such column.", ""),
        ("null, because no table holds appointments", ""),
        ("Answer: `null`.", ""),
        ("The answer is null, or else:\nselect 1", None),
        ("null and void", None),
        ("null is not the answer", None),
        ("The null hypothesis holds.", None),
        ("It can't be answered by the ward alone, so:\nselect 1", "select 1"),
        ("I am sorry, no table holds appointments.", ""),
        ("42", None),
    ],
)
def test_the_query_in_an_answer(answer, query):
    assert find_query_or_abstention(answer) == query


@pytest.mark.parametrize(
    ("answer", "worth"),
    [
        (GOLD, 1.0),
        (
            "select name, dose from drug where dose > 1 group by name order by dose",
            1.0,
        ),  # another order
        (
            "select name, dose + 0.00000001 from drug where dose > 1 group by name",
            1.0,
        ),  # a computed number
        ("select name, dose from drug where dose > 1", 0.0),  # a row too often
        ("select distinct dose, name from drug where dose > 1", 0.0),  # other columns
        ("select distinct upper(name), dose from drug where dose > 1", 0.0),
        ("select distinct name, cast(dose as text) from drug where dose > 1", 0.0),
        ("select 1 where 0", 0.0),
        ("null", 0.0),  # it has an answer
        ("", Unscored(Reason.EMPTY)),
        ("I do not know.", Unscored(Reason.UNPARSED)),
    ],
)
def test_execution_accuracy_compares_what_the_queries_give(answer, worth, asked):
    assert score(EXECUTION, answer, asked()) == worth


def test_a_question_without_an_answer_is_right_when_the_model_abstains(asked):
    assert [score(EXECUTION, answer, asked(None)) for answer in ("null", GOLD)] == [1.0, 0.0]


@pytest.mark.parametrize(
    "gold",
    [
        "select name from drug where name = 'ibuprofen'",  # no row
        "select count(*) from drug where name = 'ibuprofen'",  # zero
        "select max(dose) from drug where name = 'ibuprofen'",  # NULL
        "select sum(dose), count(*) * 1.0 from drug where name = 'ibuprofen'",
        "select count(*) > 0 from drug where name = 'ibuprofen'",
    ],
)
@pytest.mark.parametrize(
    "answer",
    [
        "{gold}",
        "select 1 where 0",
        "select 0",
        "select 0, 0",
        GOLD,
        "select nothing",
        "delete from drug",
    ],
)
def test_a_published_query_that_finds_nothing_makes_no_query_right_or_wrong(gold, answer, asked):
    assert score(EXECUTION, answer.format(gold=gold), asked(gold)) == Unscored(Reason.NO_REFERENCE)


def test_one_cell_that_holds_something_is_a_reference(asked):
    for gold in (
        "select 0, name from drug",
        "select ''",
        "select '0'",
        "select 0.5",
        "select 0 union select 1",
    ):
        assert [score(EXECUTION, answer, asked(gold)) for answer in (gold, "select 1 where 0")] == [
            1.0,
            0.0,
        ]


def test_always_writing_a_query_that_finds_nothing_gains_nothing_and_neither_does_always_abstaining(
    asked,
):
    nothing, something, impossible = asked("select 1 where 0"), asked(), asked(None)

    def mean(answer: str) -> float:
        given = [score(EXECUTION, answer, i) for i in [nothing] * 8 + [something, impossible]]
        known = [s for s in given if not isinstance(s, Unscored)]
        return sum(known) / len(known)

    assert mean("select name from drug where 0") == 0.0
    assert mean("null") == 0.1  # what has an answer is counted, though no query for it could be


def test_a_published_query_that_cannot_run_is_no_reference_for_another(asked):
    broken = asked("select nothing from nowhere")
    assert score(EXECUTION, GOLD, broken) == Unscored(Reason.NO_REFERENCE)
    assert score(EXECUTION, "null", broken) == 0.0  # the question has an answer, whatever it is


@pytest.mark.parametrize(
    "after",
    [
        "\n\nThis query finds what was given.",
        " It selects each drug once; the dose is in mg.",
        "\nSelect the rows that hold more than one.",
        "\nWith this query each drug is found once.",
        "\nEnd of query.",
        " -- done",
    ],
)
def test_words_after_the_query_do_not_make_it_wrong(after, asked):
    assert score(EXECUTION, f"{GOLD};{after}", asked()) == 1.0
    assert score(EXECUTION, f"Here:\n{GOLD};{after}", asked()) == 1.0


@pytest.mark.parametrize(
    "after", ["select 1;", "drop table drug", "\nselect name from drug;", "delete from drug"]
)
def test_a_second_statement_is_not_taken_for_words(after, asked):
    assert score(EXECUTION, f"{GOLD}; {after}", asked()) == 0.0


@pytest.mark.parametrize("between", ["Or:", "Alternatively:", "If doses do not matter:"])
def test_two_queries_without_a_choice_have_no_score(between, asked):
    answer = f"{GOLD};\n\n{between}\nselect name from drug;"
    assert score(EXECUTION, answer, asked()) == Unscored(Reason.UNPARSED)


def test_a_semicolon_within_a_text_or_a_comment_ends_no_query(asked):
    for written in (
        "select ';' as a; It is a mark.",
        "select /* ; */ ';' -- ;\n as a; A mark.",
        "select ';' as \"a;b\"; A",
    ):
        assert score(EXECUTION, written, asked("select ';'")) == 1.0


def test_the_clock_of_a_query_stands_still(database, asked):
    outcome = run_query(
        database,
        "select current_time, current_date, datetime(current_timestamp, '-1 day')",
        now=NOW,
    )
    assert outcome.rows == ((NOW, NOW, "2105-12-30 23:59:00"),)
    today = asked("select name from drug where date(started) = date(current_time)")
    assert score(EXECUTION, "select 'aspirin'", today) == 1.0
    assert score(EXECUTION, "select name from drug where date(started) = date('now')", today) == 1.0


def test_published_queries_mean_what_they_meant_before_they_were_lower_cased(asked):
    year = asked("select count(*) from drug where strftime('%y', started) = '2105'")
    assert score(EXECUTION, "select 2", year) == 1.0
    assert (
        score(EXECUTION, "select count(*) from drug where strftime('%Y', started) = '2105'", year)
        == 1.0
    )
    days = asked(
        "select strftime('%j', current_time) - strftime('%j', started) from drug where name = 'heparin'"
    )
    assert (
        score(EXECUTION, f"select julianday('{NOW}') - julianday('2104-02-01 08:30:00')", days)
        == 1.0
    )
    normal = repair_query(
        "select 1 from v where v.heartrate between heart_rate_lower and heart_rate_upper"
    )
    assert normal == "select 1 from v where v.heartrate between 60.0 and 100.0"


def test_numbers_agree_to_a_millionth_and_rows_are_matched_one_to_one():
    assert is_same_result([(1.0, "a"), (2.0, "b")], [(2, "b"), (1.0000004, "a")])
    assert not is_same_result([(1.0,), (1.0,)], [(1.0,), (2.0,)])
    assert not is_same_result([(1.00001,)], [(1.0,)])
    assert is_same_result([(None,)], [(None,)])
    assert not is_same_result([(None,)], [(0,)])
    assert not is_same_result([(1.1, 2)], [(1.1, 2, 3)])
    assert not is_same_result([("1",)], [(1,)])


def test_a_database_that_was_replaced_is_looked_at_anew(database, asked):
    assert score(EXECUTION, "select 4", asked("select count(*) from drug")) == 1.0
    with sqlite3.connect(database) as connection:
        connection.execute("delete from drug where name = 'aspirin'")
    connection.close()
    assert score(EXECUTION, "select 2", asked("select count(*) from drug")) == 1.0


def test_precision_and_recall_count_each_over_its_own_questions(asked):
    nothing = Unscored(Reason.NOT_APPLICABLE)
    questions = [
        (asked(), GOLD),
        (asked(), "select 1"),
        (asked(), "null"),
        (asked(None), GOLD),
        (asked(None), "null"),
    ]
    precision = [score(PRECISION, answer, instance) for instance, answer in questions]
    recall = [score(RECALL, answer, instance) for instance, answer in questions]
    assert precision == [1.0, 1.0, nothing, 0.0, nothing]  # 2 of the 3 queries were called for
    assert recall == [1.0, 1.0, 0.0, nothing, nothing]  # 2 of the 3 answerable questions got one
    assert [score(VALIDITY, answer, instance) for instance, answer in questions] == [
        1.0,
        1.0,
        nothing,
        1.0,
        nothing,
    ]


@pytest.mark.parametrize(
    ("gold", "answer", "execution", "validity", "precision"),
    [
        (GOLD, GOLD, 1, 1, 1),
        (GOLD, "select name, dose from drug where dose > 1", 1, 1, 1),  # duplicates do not count
        (GOLD, f"<sql>{GOLD}</sql>", 1, 1, 1),
        (GOLD, f"<sql>{GOLD}<sql>", 1, 1, 1),
        (GOLD, f"`{GOLD}`", 1, 1, 1),
        (GOLD, f"```sql\n{GOLD}\n```", 1, 1, 1),
        (GOLD, f"Here you are:\n{GOLD}", 0, 0, 1),
        (GOLD, "select 1", 0, 1, 1),
        (GOLD, "delete from drug", 0, 1, 1),  # upstream runs it
        (GOLD, "drop table drug", 0, 1, 1),
        (GOLD, "drop table nothing", 0, 0, 1),
        (GOLD, "pragma table_info(drug)", 0, 1, 1),
        (GOLD, "select 1; select 2", 0, 0, 1),
        (GOLD, "", 0, 0, 0),
        (
            "select name from drug where dose > 9999",
            "select name from drug where dose > 9999",
            0,
            1,
            1,
        ),
        (
            "select name from drug where dose > 9999",
            "",
            0,
            0,
            0,
        ),  # "aspirin" is taken for the result
        (None, "", 1, 0, 0),
        (None, "null", 0, 0, 0),
        (None, GOLD, 0, 1, 0),
    ],
)
def test_helms_rule_is_reproduced(gold, answer, execution, validity, precision, asked):
    instance = asked(gold, value="{}" if gold is None else '{"drug_name": "aspirin"}')
    got = [
        score(name, answer, instance, "helm") for name in (EXECUTION, VALIDITY, PRECISION, RECALL)
    ]
    assert got == [execution, validity, precision, precision]


def test_helms_rule_runs_nothing_that_writes(database, asked):
    before = digest(database)
    for answer in ("delete from drug", "drop table drug", "vacuum", "create table other (a)"):
        assert score(VALIDITY, answer, asked(), "helm") == 1.0
    assert digest(database) == before
    assert score(EXECUTION, GOLD, asked(), "helm") == 1.0


def test_the_sample_has_real_questions_that_its_invented_database_answers():
    benchmark = load_benchmark(shipped("benchmarks") / "ehr_sql")
    instances = load_instances(benchmark, locate_dataset(benchmark))
    answerable = [instance for instance in instances if instance.extra["is_impossible"] == "false"]
    assert (len(instances), len(answerable)) == (120, 90)
    database = Path(answerable[0].extra["database"])
    results = [run_query(database, repair_query(i.references[0].text), now=NOW) for i in answerable]
    assert {outcome.ended for outcome in results} == {"finished"}
    assert all(outcome.rows and outcome.rows[0] != (None,) for outcome in results)
    # Queries that tell nothing apart would make everybody right.
    wrong = [
        score(EXECUTION, answerable[number - 1].references[0].text, i)
        for number, i in enumerate(answerable)
    ]
    assert sum(wrong) < 20
    for i in instances:
        assert "CREATE TABLE vitalperiodic" in i.messages[0].content
        assert i.references[0].text not in i.messages[0].content or i.references[0].text == "null"


@pytest.mark.parametrize(
    "answer", ["SELECT NULL", "select null;", "`SELECT NULL`", "SELECT NULL; -- no such table"]
)
def test_select_null_is_shown_as_an_abstention(answer, asked):
    reading = show_query(answer, asked(None), {})
    assert isinstance(reading, Reading)
    assert (reading.value, reading.rule) == ("null", "abstention")
