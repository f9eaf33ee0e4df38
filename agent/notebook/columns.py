"""The columns of every table, with their types and meanings. docs/notebook.md lists them; a test compares both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent.vocabulary import AccessLevel, AnswerMode, Reason, Scoring

Kind = Literal["text", "label", "integer", "number", "yes_no", "time"]

DTYPES: Mapping[Kind, str] = {
    "text": "string",
    "label": "category",
    "integer": "Int64",
    "number": "Float64",
    "yes_no": "boolean",
    "time": "datetime64[us, UTC]",
}
"""The name of the pandas type of each kind of column. All of them can hold missing values."""


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """One column of a table.

    Attributes:
        name: its name.
        kind: its kind, which determines its type.
        meaning: a sentence for readers.
        labels: the values that a label usually has, in their order. Tables that are joined keep their type.
    """

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def dtype(self) -> str:
        """The name of its type in pandas."""
        return DTYPES[self.kind]


def _text(name: str, meaning: str) -> FrameColumn:
    return FrameColumn(name, "text", meaning)


def _integer(name: str, meaning: str) -> FrameColumn:
    return FrameColumn(name, "integer", meaning)


def _number(name: str, meaning: str) -> FrameColumn:
    return FrameColumn(name, "number", meaning)


def _yes_no(name: str, meaning: str) -> FrameColumn:
    return FrameColumn(name, "yes_no", meaning)


def _label(name: str, meaning: str, labels: Sequence[str]) -> FrameColumn:
    return FrameColumn(name, "label", meaning, tuple(labels))


_ACCESS = _label(
    "access", "public, gated or private; unknown if imported", (*get_args(AccessLevel), "unknown")
)
_SCORING = _label("scoring", "the rules of the scores", get_args(Scoring))
_UNSCORED = _label("unscored", "why there is no score", tuple(Reason))
_SUITE = _text("suite", "the collection of runs")
_BENCHMARK = _text("benchmark", "the benchmark's id")
_BENCHMARK_NAME = _text("benchmark_name", "its name for people")
_MODEL = _text("model", "the model that was asked")
_DEPLOYMENT = _text("deployment", "the site's name for the server that was asked")
_POSITION = _integer("position", "the place in the benchmark's order, from 0")
_INSTANCE = _text(
    "instance", "a keyed hash of the instance's id; the same in every run of the benchmark"
)
_METRIC = _text("metric", "the metric's name")
_CATEGORY = _text("category", "MedHELM's category")

SUITES = (
    _SUITE,
    _integer("runs", "number of runs"),
    _integer("benchmarks", "number of benchmarks"),
    _integer("models", "number of models"),
    _integer("instances", "number of instances, over all runs"),
    FrameColumn("started_at", "time", "when its first run began"),
    FrameColumn("ended_at", "time", "when its last run ended; missing if none has ended"),
)

RUNS = (
    _text("run_id", "identifies the run; `instances`, `scores` and `judgements` accept it"),
    _SUITE,
    _text("run", "the run's name: its run entry, with labels in place of free text"),
    _BENCHMARK,
    _BENCHMARK_NAME,
    _CATEGORY,
    _ACCESS,
    _MODEL,
    _DEPLOYMENT,
    _yes_no("language_model", "false for a reference baseline"),
    _label("answer_mode", "the way of asking", get_args(AnswerMode)),
    _SCORING,
    _label("data", "what the data is known to be", ("official", "sample", "invented", "unknown")),
    _yes_no("imported", "whether it was made elsewhere"),
    _label("state", "asking: interrupted or still running; ended", ("asking", "ended")),
    FrameColumn("started_at", "time", "when it began"),
    FrameColumn("ended_at", "time", "when it ended"),
    _integer("instances", "number of instances"),
    _METRIC,
    _number("mean", "the main metric's mean over scored instances"),
    _number("low", "lower limit of its 95 % interval"),
    _number("high", "upper limit of its 95 % interval"),
    _integer("n", "number of scored instances"),
    _integer("units", "number of patients or documents behind them"),
    _integer("unscored", "number of instances without a score"),
    _integer("prompt_tokens", "tokens of the prompts, as counted by the server"),
    _integer("completion_tokens", "tokens of the answers, as counted by the server"),
    _integer("requests", "number of requests sent, with retries"),
    _number("asked_seconds", "seconds spent asking"),
)

_FIGURES = (
    _number("mean", "mean over scored instances"),
    _number("low", "lower limit of the 95 % interval"),
    _number("high", "upper limit of the 95 % interval"),
    _integer("n", "number of scored instances"),
    _integer("units", "number of patients or documents behind them"),
    _integer("unscored", "number of instances without a score"),
    _number("floor", "the mean if answers that the model left unscored count as the lowest"),
    _number("normalised", "the mean as a share of the metric's range"),
    _number("bound_low", "the mean if every unscored instance were wrong"),
    _number("bound_high", "the mean if every unscored instance were right"),
    _integer("not_applicable", "number of instances to which the metric does not apply"),
    _text("unscored_reasons", "numbers of unscored instances by reason"),
    _text("interval", "the method of the interval"),
)

_JURY = (
    _text("jury_metric", "the metric that the jury grades"),
    _number("jury_scale_low", "the lowest grade"),
    _number("jury_scale_high", "the highest grade"),
    _integer("quorum", "number of seats that must give a verdict"),
    _text("judges", "names of the judges, in the order of their seats"),
    _text("judges_mean", "each judge's mean grade"),
    _text("judges_filled", "each judge's number of valid verdicts"),
    _text("judges_repaired", "each judge's number of corrected replies"),
    _text("judges_faults", "each judge's invalid replies by kind"),
    _integer("seats", "number of verdicts asked for"),
    _integer("seats_filled", "number of valid verdicts"),
    _integer("seats_repaired", "number of replies that were corrected"),
    _text("seat_faults", "invalid replies by kind"),
    _text("criteria", "mean grade of each criterion"),
    _text("family_judges", "judges of the model's own family"),
    _number("without_family_mean", "mean without those judges"),
    _number("without_family_low", "lower limit of its interval"),
    _number("without_family_high", "upper limit of its interval"),
    _integer("without_family_n", "number of instances behind it"),
)


def _list_usage(prefix: str, scope: str) -> tuple[FrameColumn, ...]:
    """Return the columns of what answers took; `scope` ends each meaning, and may be empty."""
    return (
        _integer(f"{prefix}_answers", f"number of stored answers{scope}"),
        _integer(f"{prefix}_prompt_tokens", f"tokens of prompts{scope}"),
        _integer(f"{prefix}_completion_tokens", f"tokens of answers{scope}"),
        _number(f"{prefix}_tokens_per_answer", f"tokens for one answer{scope}"),
        _number(f"{prefix}_seconds_per_answer", f"seconds for one answer{scope}"),
        _number(f"{prefix}_cost_by_tokens", f"cost by tokens{scope}"),
        _number(f"{prefix}_cost_by_gpu_hours", f"cost by GPU hours{scope}"),
        _number(f"{prefix}_cost_per_answer_by_tokens", f"cost of one answer by tokens{scope}"),
        _number(
            f"{prefix}_cost_per_answer_by_gpu_hours", f"cost of one answer by GPU hours{scope}"
        ),
        _text(f"{prefix}_currency", f"currency of the costs{scope}"),
    )


SUMMARY = (
    _BENCHMARK,
    _MODEL,
    _METRIC,
    *_FIGURES,
    _integer("rank_low", "the best rank in the benchmark that the data allows"),
    _integer("rank_high", "the worst rank in the benchmark that the data allows"),
    _integer("model_rank_low", "the model's best overall rank that the data allows"),
    _integer("model_rank_high", "the model's worst overall rank that the data allows"),
    _number("model_win_rate", "the model's win rate over all benchmarks"),
    _number("model_win_low", "lower limit of its interval"),
    _number("model_win_high", "upper limit of its interval"),
    _number("model_macro", "the model's macro-average over all benchmarks"),
    _number("model_macro_low", "lower limit of its interval"),
    _number("model_macro_high", "upper limit of its interval"),
    _text("notes", "what to know before trusting the row"),
    _DEPLOYMENT,
    _text("run", "the (first) run's name"),
    _text("arguments", "the run entry's arguments, without those that name the model"),
    _integer("runs", "number of runs that form the row"),
    _yes_no("language_model", "false for a reference baseline"),
    _SCORING,
    _text("parser", "how the answers were read"),
    _integer("reading_version", "the version of the rules that read them"),
    _text("data", "what the data is known to be"),
    _text("data_problems", "what is wrong with the data"),
    _number("cut_off", "share of answers cut off by the limit of tokens"),
    *_JURY,
    _number("helm_mean", "mean by HELM's rules, if the runs were scored by both"),
    _number("helm_low", "lower limit of its interval"),
    _number("helm_high", "upper limit of its interval"),
    _integer("helm_n", "number of instances scored by HELM's rules"),
    _integer("helm_unscored", "number of instances without a score by HELM's rules"),
    *_list_usage("usage", ""),
    *_list_usage("model_usage", ", over all rows of the model"),
)

INSTANCES = (
    _POSITION,
    _INSTANCE,
    _text("id", "the dataset's own id; only with `reveal=True`"),
    _text("prompt", "the messages of the prompt; with several, each after its role"),
    _text("answer", "the model's answer"),
    _text("reasoning", "its reasoning"),
    _text("reference", "the right answers, one a line"),
    _text("wrong_options", "the other options, one a line"),
    _METRIC,
    _number("score", "the score by that metric"),
    _UNSCORED,
    _text("finish_reason", "why the server ended the answer"),
    _integer("prompt_tokens", "tokens of the prompt"),
    _integer("completion_tokens", "tokens of the answer"),
    _integer("shortened", "number of tokens cut from a prompt that was too long"),
)

SCORES = (
    _POSITION,
    _INSTANCE,
    _METRIC,
    _number("score", "the score"),
    _UNSCORED,
)

JUDGEMENTS = (
    _POSITION,
    _INSTANCE,
    _METRIC,
    _integer("seat", "number of the seat, from 0"),
    _text("judge", "the judge's name"),
    _text("criterion", "the criterion; missing if the seat gave no valid verdict"),
    _number("grade", "the grade on the jury's scale"),
    _text("reason", "why the seat gave no valid verdict"),
    _yes_no("repaired", "whether the judge was asked to correct its first reply"),
    _text("explanation", "the judge's words about the criterion"),
)

COMPARISON = (
    _BENCHMARK,
    _integer("benchmarks", "number of benchmarks in the row"),
    _METRIC,
    _integer("n", "number of instances for which both models have a score"),
    _integer("units", "number of patients or documents behind them"),
    _number("mean_a", "the first model's mean"),
    _number("mean_b", "the second model's mean"),
    _number("difference", "the first mean minus the second"),
    _number("low", "lower limit of its 95 % interval"),
    _number("high", "upper limit of its 95 % interval"),
    _number("p", "p value of the difference"),
    _number("holm_p", "p value corrected by Holm's method for the number of benchmarks"),
    _number("detectable", "the minimum detectable difference"),
    _text("words", "the conclusion in words; A is the first model"),
    _text("interval", "the method of the interval"),
    _text("test", "the test of the p value"),
    _number("exact_p", "p value of the exact test, if there is one"),
    _integer("better_a", "number of instances in which the first model is better"),
    _integer("better_b", "number of instances in which the second model is better"),
    _integer("units_needed", "number of units that would show such a difference"),
    _text("unscored_a", "the first model's unscored instances by reason"),
    _text("unscored_b", "the second model's"),
    _integer("inapplicable_a", "instances of the first model left out as not applicable"),
    _integer("inapplicable_b", "those of the second"),
    _integer("only_a", "instances asked of the first model only"),
    _integer("only_b", "instances asked of the second model only"),
    _integer("seats_empty_a", "the first model's answers that lack a judge's verdict"),
    _integer("seats_empty_b", "those of the second"),
    _number("scale_low", "the metric's lowest value"),
    _number("scale_high", "the metric's highest value"),
    _integer("floor_n", "number of instances if unscored answers count as the lowest"),
    _number("floor_difference", "the difference then"),
    _number("floor_low", "lower limit of its interval"),
    _number("floor_high", "upper limit of its interval"),
    _number("floor_p", "its p value"),
    _integer("without_family_n", "number of instances without judges of either family"),
    _number("without_family_difference", "the difference by the other judges"),
    _number("without_family_low", "lower limit of its interval"),
    _number("without_family_high", "upper limit of its interval"),
    _number("without_family_p", "its p value"),
    _number("least", "the lowest difference that unscored instances allow"),
    _number("most", "the highest"),
    _yes_no("stands_in", "whether another metric stands in for the main one"),
    _text("family_a", "judges of the first model's family"),
    _text("family_b", "judges of the second model's family"),
    _text("runs_a", "the first model's runs"),
    _text("runs_b", "the second model's runs"),
)


def _list_interval(name: str, meaning: str) -> tuple[FrameColumn, ...]:
    return (
        _number(name, meaning),
        _number(f"{name}_low", "lower limit of its 95 % interval"),
        _number(f"{name}_high", "upper limit of its 95 % interval"),
    )


AGREEMENT = (
    _BENCHMARK,
    _integer("jury", "number of the jury, from 1, among those of the benchmark"),
    _text("criterion", "the criterion; (all) for the mean of all"),
    _integer("seats", "number of judges"),
    _text("judges", "names of the judges"),
    _text("silent", "judges that gave no valid verdict"),
    _integer("answers", "number of answers with at least two verdicts"),
    _integer("units", "number of patients or documents behind them"),
    *_list_interval("alpha_interval", "Krippendorff's alpha for interval grades"),
    *_list_interval("alpha_ordinal", "Krippendorff's alpha for ordinal grades"),
    _integer("complete", "number of answers with every judge's verdict"),
    _integer("complete_units", "number of patients or documents behind them"),
    *_list_interval("icc1", "ICC(1,1)"),
    *_list_interval("icc2", "ICC(2,1)"),
    *_list_interval("icc3", "ICC(3,1)"),
    *_list_interval("icc1k", "ICC(1,k)"),
    *_list_interval("icc2k", "ICC(2,k)"),
    *_list_interval("icc3k", "ICC(3,k)"),
    _text("icc_limits", "the method of the limits of ICC"),
)

BIASES = (
    _label("kind", "what was examined", ("length", "judge", "family", "favour")),
    _BENCHMARK,
    _integer("jury", "number of the jury, from 1, among those of the benchmark"),
    _text("judge", "the judge; missing for the whole jury"),
    _text("model", "the model that answered; missing for all models"),
    _integer("n", "number of answers"),
    _integer("units", "number of patients or documents behind them"),
    _number("value", "a rank correlation (length) or a difference of grades"),
    _number("low", "lower limit of its 95 % interval"),
    _number("high", "upper limit of its 95 % interval"),
)

BENCHMARKS = (
    _BENCHMARK,
    _BENCHMARK_NAME,
    _CATEGORY,
    _text("subcategory", "MedHELM's subcategory"),
    _ACCESS,
    _text("metric", "the main metric"),
    _text("helm_metric", "HELM's name for it"),
    _text("unit", "the unit of analysis, such as patient or note"),
    _text("data", "ready, or what is missing; broken if the definition cannot be read"),
    _text("data_detail", "the same in words"),
)

MODELS = (
    _MODEL,
    _DEPLOYMENT,
    _yes_no("listed", "whether it is in model_deployments.yaml"),
    _yes_no("managed", "whether the agent starts its server itself"),
    _yes_no("running", "whether a managed server runs now"),
    _integer("runs", "number of stored runs"),
    _yes_no("reasoning", "whether it reasons before it answers"),
    _integer("max_sequence_length", "maximum tokens of prompt and answer"),
    _integer("max_in_flight", "maximum number of simultaneous requests to a server"),
    _text("currency", "currency of the prices"),
    _number("per_million_prompt_tokens", "price of a million prompt tokens"),
    _number("per_million_completion_tokens", "price of a million tokens of answers"),
    _number("gpu_hour_rate", "price of an hour of a GPU"),
    _text("problem", "why the deployment cannot be used"),
)

COLUMNS = (
    _text("column", "the column's name"),
    _text("dtype", "the name of its type in pandas"),
    _text("meaning", "its meaning"),
)

TABLES: Mapping[str, tuple[FrameColumn, ...]] = {
    "suites": SUITES,
    "runs": RUNS,
    "summary": SUMMARY,
    "instances": INSTANCES,
    "scores": SCORES,
    "judgements": JUDGEMENTS,
    "compare": COMPARISON,
    "agreement": AGREEMENT,
    "biases": BIASES,
    "benchmarks": BENCHMARKS,
    "models": MODELS,
}
"""The columns of the table that each method of `Site` returns."""
