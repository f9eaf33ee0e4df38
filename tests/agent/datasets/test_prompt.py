"""From rows to messages: arguments, system prompts, chats, solved examples, subgroups, and what may be cut."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.benchmark import Benchmark
from agent.catalog.question import Shorten
from agent.datasets.load import iter_instances, load_instances, locate_dataset
from agent.datasets.prompt import PromptTemplate, RenderedText
from agent.errors import BenchmarkError, ConfigError
from agent.vocabulary import Message
from tests.agent.datasets.own import CANARY, instances, own, problem

ROWS = "note,correct_answer,category,sex\nn1,a1,x,F\nn2,a2,y,\nn3,a3,x,M\n"
ARGUMENTS = """arguments:
  condition: {values: [alcohol_dependence, homelessness], required: true}
  language: {values: [en, de], default: en}
  category: {column: category, default: ""}
  max_length: {kind: tokens, default: "100000"}
"""


def test_an_argument_stands_in_the_prompt_with_its_default(tmp_path):
    benchmark = own(tmp_path, ARGUMENTS, prompt="{language}: {condition}? {note}", data_csv=ROWS)
    made = instances(benchmark, condition="homelessness")
    assert [i.messages[0].content for i in made] == [f"en: homelessness? n{n}" for n in (1, 2, 3)]


def test_an_argument_stands_in_the_options_and_the_gold_is_the_filled_text(tmp_path):
    yaml = (
        ARGUMENTS
        + "choices: ['History of {condition}', 'No {condition}', '{unknown}']\ngold: {column: right}\n"
    )
    benchmark = own(
        tmp_path, yaml, prompt="{options}", data_csv="right,category\nNo homelessness,x\n"
    )
    (instance,) = instances(benchmark, condition="homelessness")
    assert (
        instance.messages[0].content
        == "A. History of homelessness\nB. No homelessness\nC. {unknown}"
    )
    assert [r.correct for r in instance.references] == [False, True, False]


def test_a_column_of_the_table_comes_before_an_argument_of_its_name(tmp_path):
    benchmark = own(tmp_path, "arguments: [note]\n", data_csv=ROWS)
    assert instances(benchmark, note="from the entry")[0].messages[0].content == "n1"


def test_an_argument_takes_the_rows_it_names_and_keeps_their_numbers(tmp_path):
    benchmark = own(tmp_path, ARGUMENTS, data_csv=ROWS)
    assert [i.id for i in instances(benchmark, condition="homelessness", category="x")] == [
        "1",
        "3",
    ]
    assert [i.id for i in instances(benchmark, condition="homelessness", category="")] == [
        "1",
        "2",
        "3",
    ]
    said = problem(benchmark, condition="homelessness", category="z")
    assert said == "own: the dataset has no rows with category=z"


def test_rows_that_are_not_taken_may_be_incomplete(tmp_path):
    benchmark = own(tmp_path, ARGUMENTS, data_csv=ROWS.replace("n2,a2", "n2,"))
    assert len(instances(benchmark, condition="homelessness", category="x")) == 2
    assert "row 2 (line 3): the column 'correct_answer' is empty" in problem(
        benchmark, condition="homelessness"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "own needs the argument condition: one of alcohol_dependence, homelessness"),
        ({"condition": "homelesness"}, "(did you mean 'homelessness'?)"),
        (
            {"condition": "homelessness", "langage": "en"},
            "takes no argument 'langage' (did you mean 'language'?)",
        ),
        (
            {"condition": "homelessness", "language": "fr"},
            "language is 'fr': expected one of en, de",
        ),
        ({"condition": "homelessness", "max_length": "many"}, "expected a whole number of tokens"),
        ({"condition": "homelessness", "max_length": "0"}, "expected a whole number of tokens"),
    ],
)
def test_arguments_that_are_wrong(tmp_path, given, said):
    benchmark = own(tmp_path, ARGUMENTS, data_csv=ROWS)
    with pytest.raises(ConfigError) as caught:
        instances(benchmark, **given)
    assert said in str(caught.value)


def test_the_most_tokens_of_a_prompt_are_no_column(tmp_path):
    benchmark = own(tmp_path, ARGUMENTS, prompt="{note} {max_length}", data_csv=ROWS)
    assert "{max_length} is not a column" in problem(benchmark, condition="homelessness")


def test_a_system_prompt_is_rendered_like_the_prompt(tmp_path):
    yaml = 'system_prompt: "You read {language} notes of {sex}."\n' + ARGUMENTS
    made = instances(
        own(tmp_path, yaml + "optional_columns: [sex]\n", data_csv=ROWS), condition="homelessness"
    )
    assert made[0].messages == (Message("system", "You read en notes of F."), Message("user", "n1"))
    said = problem(own(tmp_path, yaml, data_csv=ROWS), condition="homelessness")
    assert "row 2 (line 3): the column 'sex' is empty" in said
    said = problem(
        own(tmp_path, yaml.replace("{sex}", "{sexe}"), data_csv=ROWS), condition="homelessness"
    )
    assert "prompt: line 1: {sexe} is not a column (did you mean 'sex'?)" in said


def test_a_system_prompt_of_its_own_file_changes_the_digest(tmp_path):
    benchmark = own(
        tmp_path, "system_prompt_file: system.txt\n", data_csv=ROWS, system_txt="Be brief.\n"
    )
    assert instances(benchmark)[0].messages[0] == Message("system", "Be brief.")
    other = own(
        tmp_path, "system_prompt_file: system.txt\n", data_csv=ROWS, system_txt="Be very brief.\n"
    )
    assert other.digest != benchmark.digest


def chat(*turns: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "content": content} for role, content in turns])


def table(*rows: dict[str, str]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def test_a_column_of_messages_is_the_chat(tmp_path):
    turns = chat(("system", "s"), ("user", "u"), ("assistant", "a"), ("user", "last {note}"))
    data = table({"messages": turns, "correct_answer": "x"})
    (instance,) = instances(
        own(tmp_path, "messages_column: messages\n", prompt=None, data_csv=data)
    )
    assert [m.role for m in instance.messages] == ["system", "user", "assistant", "user"]
    assert instance.messages[-1].content == "last {note}"
    benchmark = own(
        tmp_path, "messages_column: messages\ninstructions: Be kind.\n", prompt=None, data_csv=data
    )
    assert instances(benchmark)[0].messages[-1].content == "Be kind.\n\nlast {note}"


def test_the_prompt_is_the_last_turn_of_a_chat(tmp_path):
    data = table(
        {"messages": chat(("user", "u"), ("assistant", "a")), "note": "n", "correct_answer": "x"}
    )
    (instance,) = instances(own(tmp_path, "messages_column: messages\n", data_csv=data))
    assert [(m.role, m.content) for m in instance.messages] == [
        ("user", "u"),
        ("assistant", "a"),
        ("user", "n"),
    ]


@pytest.mark.parametrize(
    "cell",
    [
        CANARY,
        "[]",
        "{}",
        f'["{CANARY}"]',
        chat(("user", CANARY), ("assistant", CANARY)),
        chat(("assistant", CANARY)),
        chat(("doctor", CANARY)),
        chat(("user", "")),
        chat(("user", CANARY), ("system", CANARY), ("user", CANARY)),
        f'[{{"role": "user", "content": "{CANARY}", "name": "x"}}]',
        f'[{{"role": "user", "content": ["{CANARY}"]}}]',
        "[" * 100_000,
    ],
)
def test_a_chat_that_cannot_be_asked_is_named_and_not_quoted(tmp_path, cell):
    data = table({"messages": cell, "correct_answer": "x"})
    said = problem(own(tmp_path, "messages_column: messages\n", prompt=None, data_csv=data))
    assert "row 1 (line 2): the column 'messages' is not a JSON list of messages" in said


def test_two_system_messages_are_refused(tmp_path):
    data = table({"messages": chat(("system", "s"), ("user", "u")), "correct_answer": "x"})
    yaml = "messages_column: messages\nsystem_prompt: t\n"
    assert "'messages' is not a JSON list" in problem(
        own(tmp_path, yaml, prompt=None, data_csv=data)
    )


TRAIN = "note,correct_answer\nt1,b1\nt2,b2\nt3,b3\n"


def test_examples_of_a_file_come_solved_before_the_question(tmp_path):
    yaml = "instructions: Do it.\nfew_shot: {count: 2, dataset_file: train.csv}\n"
    benchmark = own(tmp_path, yaml, prompt="Note: {note}\nAnswer:", data_csv=ROWS, train_csv=TRAIN)
    assert instances(benchmark)[0].messages[0].content == (
        "Do it.\n\nNote: t1\nAnswer: b1\n\nNote: t2\nAnswer: b2\n\nNote: n1\nAnswer:"
    )
    dataset = locate_dataset(benchmark)
    one = load_instances(benchmark, dataset, instructions="none", examples=1)
    assert one[0].messages[0].content == "Note: t1\nAnswer: b1\n\nNote: n1\nAnswer:"
    assert (
        load_instances(benchmark, dataset, examples=0)[0].messages[0].content
        == "Do it.\n\nNote: n1\nAnswer:"
    )
    with pytest.raises(
        BenchmarkError, match="4 solved examples are needed, but only 3 rows can be used"
    ):
        load_instances(benchmark, dataset, examples=4)


def test_examples_belong_to_the_datasets_digest_and_may_not_change(tmp_path):
    yaml = "few_shot: {count: 2, dataset_file: train.csv}\n"
    benchmark = own(tmp_path, yaml, data_csv=ROWS, train_csv=TRAIN)
    dataset = locate_dataset(benchmark)
    (tmp_path / "train.csv").write_text(TRAIN.replace("b1", "b9"))
    assert locate_dataset(benchmark).digest != dataset.digest
    with pytest.raises(BenchmarkError, match=r"train\.csv: changed since the run began"):
        load_instances(benchmark, dataset)


def test_rows_of_a_split_are_examples_and_never_asked(tmp_path):
    data = "id,note,correct_answer,split\n1,n1,a1,test\n2,t1,b1,train\n3,t2,b2,train\n4,n2,a2,\n"
    yaml = "id_column: id\nfew_shot: {count: 1, column: split, value: train}\n"
    benchmark = own(tmp_path, yaml, data_csv=data)
    made = instances(benchmark)
    assert [i.id for i in made] == ["1", "4"]
    assert made[1].messages[0].content == "t1 b1\n\nn2"
    bare = load_instances(benchmark, locate_dataset(benchmark), examples=0)
    assert [(i.id, i.messages[0].content) for i in bare] == [("1", "n1"), ("4", "n2")]


def test_examples_of_multiple_choice_end_in_a_letter(tmp_path):
    yaml = (
        "choices: {columns: [a, b]}\ngold: {column: right, form: "
        "number}\nfew_shot: {count: 1, dataset_file: t.csv}\n"
    )
    head = "question,a,b,right\n"
    benchmark = own(
        tmp_path,
        yaml,
        prompt="{question}\n{options}\nAnswer:",
        data_csv=head + "q,1,2,1\n",
        t_csv=head + "e,3,4,2\n",
    )
    assert (
        instances(benchmark)[0].messages[0].content
        == "e\nA. 3\nB. 4\nAnswer: B\n\nq\nA. 1\nB. 2\nAnswer:"
    )


def test_a_file_of_examples_has_the_columns_of_question_and_answer_alone(tmp_path):
    yaml = (
        "system_prompt: For {sex}.\nmessages_column: chat\nid_column: id\nsubgroup_columns: {kind: kind}\n"
        "few_shot: {count: 1, dataset_file: train.csv}\n"
    )
    turns = chat(("user", "hello"), ("assistant", "yes?"))
    data = table(
        {"id": "1", "note": "n", "correct_answer": "a", "sex": "F", "kind": "k", "chat": turns}
    )
    (instance,) = instances(own(tmp_path, yaml, data_csv=data, train_csv=TRAIN))
    assert [m.content for m in instance.messages] == ["For F.", "hello", "yes?", "t1 b1\n\nn"]


def test_an_example_without_its_answer_is_named(tmp_path):
    yaml = "few_shot: {count: 2, dataset_file: train.csv}\n"
    benchmark = own(
        tmp_path, yaml, data_csv=ROWS, train_csv=f"note,correct_answer\n{CANARY},\nt,b\nt,c\n"
    )
    assert "train.csv: row 1 (line 2): the column 'correct_answer' is empty" in problem(benchmark)


def test_more_examples_than_a_benchmark_has_are_refused(tmp_path):
    benchmark = own(tmp_path, data_csv=ROWS)
    with pytest.raises(BenchmarkError, match="has no solved examples to show"):
        load_instances(benchmark, locate_dataset(benchmark), examples=5)


def test_subgroups_are_kept_with_the_instance_where_the_cell_says_one(tmp_path):
    benchmark = own(tmp_path, "subgroup_columns: {sex: sex, kind: category}\n", data_csv=ROWS)
    assert [i.subgroups for i in instances(benchmark)] == [
        {"sex": "F", "kind": "x"},
        {"kind": "y"},
        {"sex": "M", "kind": "x"},
    ]
    benchmark = own(tmp_path, "subgroup_columns: {age: years}\n", data_csv=ROWS)
    assert "columns: missing 'years'; expected" in problem(benchmark)


def cut(instance):
    part = instance.shortenable
    return instance.messages[part.message].content[part.start : part.end]


def test_the_part_that_may_be_cut_is_the_column_wherever_it_stands(tmp_path):
    yaml = (
        "instructions: Read n1 first.\nsystem_prompt: s\nshorten: {column: note, keep: end}\n"
        "few_shot: {count: 1, dataset_file: train.csv}\n"
    )
    data = "note,correct_answer,q\nn1,a,n1 or not?\n"
    train = "note,correct_answer,q\nn1,n1,n1\n"
    benchmark = own(tmp_path, yaml, prompt="{q} {note} {q}", data_csv=data, train_csv=train)
    (instance,) = instances(benchmark)
    assert (instance.shortenable.message, instance.shortenable.keep, cut(instance)) == (
        1,
        "end",
        "n1",
    )
    before = instance.messages[1].content[: instance.shortenable.start]
    assert before == "Read n1 first.\n\nn1 n1 n1 n1\n\nn1 or not? "


def test_an_empty_cell_has_nothing_to_cut(tmp_path):
    yaml = "shorten: {column: note}\noptional_columns: [note]\n"
    made = instances(own(tmp_path, yaml, prompt="{note}?", data_csv="note,correct_answer\n,a\n"))
    assert made[0].shortenable is None


@pytest.mark.parametrize("prompt", ["{note} {note}", "{category}"])
def test_what_may_be_cut_stands_in_the_prompt_once(tmp_path, prompt):
    benchmark = own(tmp_path, "shorten: {column: note}\n", prompt=prompt, data_csv=ROWS)
    assert "must contain the column 'note', which may be shortened, exactly once" in problem(
        benchmark
    )


texts = st.text(st.characters(codec="utf-8"), max_size=12)


@given(texts, texts, texts, texts.filter(bool), texts, st.lists(texts, max_size=2))
def test_the_span_to_cut_is_exact_whatever_stands_around_it(
    head, left, right, note, question, examples
):
    benchmark = Benchmark(
        "b",
        "b",
        "b",
        "",
        "",
        "private",
        None,
        "csv",
        "",
        "{q}#{note}{q}",
        1,
        1,
        (),
        "",
        shorten=Shorten("note"),
    )
    prompt = PromptTemplate(
        benchmark,
        {"note", "q"},
        head.replace("{", "").replace("}", ""),
        tuple(map(RenderedText, examples)),
    )
    rendered = prompt.render({"note": note, "q": left + question + right})
    part = rendered.shortenable
    content = rendered.messages[part.message].content
    assert content[part.start : part.end] == note
    assert content[: part.start].endswith(left + question + right + "#")
    assert content[part.end :] == left + question + right


def test_an_instance_comes_before_the_file_is_read_to_its_end(tmp_path):
    benchmark = own(tmp_path, data_csv="note,correct_answer\nn1,a\nn2,\n")
    walk = iter_instances(benchmark, locate_dataset(benchmark))
    assert next(walk).id == "1"
    with pytest.raises(BenchmarkError, match="row 2"):
        next(walk)


def cells(instance):
    """The marked parts of an instance's prompt: (column, text)."""
    parts = []
    for cell in instance.cells:
        parts.append((cell.column, instance.messages[cell.message].content[cell.start : cell.end]))
    return parts


def test_cells_are_marked_and_option_letters_are_not(tmp_path):
    yaml = (
        "instructions: '  About {sex}. '\nsystem_prompt_file: s.txt\nchoices: {columns: [x, y]}\n"
        "gold: {column: right, form: letter}\n"
    )
    data = "note,sex,x,y,right\nA. trap,F,yes,no B. more,A\n"
    benchmark = own(
        tmp_path, yaml, prompt="Note: {note}\n{options}\n?", data_csv=data, **{"s.txt": "S {sex}"}
    )
    (instance,) = instances(benchmark)
    assert cells(instance) == [
        ("sex", "F"),
        ("sex", "F"),
        ("note", "A. trap"),
        ("options", "yes"),
        ("options", "no B. more"),
    ]


def test_cells_that_only_signs_separate_are_one(tmp_path):
    benchmark = own(
        tmp_path,
        prompt="{family}, {given} born {day}/{month}, {town}\n{town}",
        data_csv="family,given,day,month,town,correct_answer\nVale,Ann,1,3,Ely,a\n",
    )
    (instance,) = instances(benchmark)
    assert [text for _, text in cells(instance)] == ["Vale, Ann", "1/3, Ely", "Ely"]


def test_a_solved_example_keeps_its_cells(tmp_path):
    yaml = "few_shot: {column: part, value: train, count: 1}\n"
    data = "note,part,correct_answer\nn1,train,because\nn2,test,a2\n"
    (instance,) = instances(own(tmp_path, yaml, prompt="Q: {note}\nA:", data_csv=data))
    assert cells(instance) == [("note", "n1"), ("correct_answer", "because"), ("note", "n2")]


@given(texts, texts, texts, texts)
def test_the_text_between_cells_is_the_template(head, left, note, question):
    rendered = RenderedText.join(
        [RenderedText(head), RenderedText.from_record(note, "n"), RenderedText(left)]
    )
    whole = RenderedText.join([rendered.strip(), RenderedText.from_record(question, "q")])
    parts = [whole.text[cell.start : cell.end] for cell in whole.cells]
    assert whole.text == (head + note + left).strip() + question
    assert all(parts)
    assert [part for part in parts if part not in (note.strip(), question)] in (
        [],
        [note.lstrip()],
        [note.rstrip()],
        [note],
    )
