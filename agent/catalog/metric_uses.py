"""The key `metrics` of a definition."""

from agent.catalog.definition_files import DefinitionFiles
from agent.catalog.wording import nearest
from agent.catalog.yaml_map import YamlMap
from agent.metrics import METRICS, Judge, MetricUse

JUDGE_METRIC = "jury_score"


def read_metrics(m: YamlMap, files: DefinitionFiles) -> tuple[MetricUse, ...]:
    """Read the list of metrics; the first is the main one."""
    uses = tuple(_metric(inner, files) for inner in m.maps("metrics"))
    if not uses:
        m.note("metrics", "expected a list with at least one metric, each with a `name`")
    for name in {use.name for use in uses if sum(other.name == use.name for other in uses) > 1}:
        m.note("metrics", f"{name!r} is given twice")
    return uses


def _metric(m: YamlMap, files: DefinitionFiles) -> MetricUse:
    name = m.name("name")
    known = tuple(METRICS)
    if name and name not in known:
        m.note("name", f"unknown metric {name!r}{nearest(name, known)}; known are {', '.join(known)}")
    spec = METRICS.get(name)
    options = {key: _option(m, key, default) for key, default in spec.options.items()} if spec else {}
    helm_name = m.name("helm_name", name)
    if name != JUDGE_METRIC:
        m.finish()
        return MetricUse(name, options, helm_name=helm_name)
    criteria = m.pairs("criteria")
    prompt = ""
    if not criteria or m.has("prompt_file"):
        prompt, _ = files.text(m, "prompt_file")
    judges: list[Judge] = []
    for judge in m.maps("judges"):
        judges.append(Judge(judge.name("name"), judge.name("model_name")))
        judge.finish()
    if not judges and not criteria:
        m.note("judges", "expected a list of judges, each with `name` (deployment) and `model_name`, or `criteria`")
    gold_shown = m.flag("gold_shown", True)
    m.finish()
    return MetricUse(
        name, options, prompt, tuple(judges), helm_name=helm_name, criteria=criteria, gold_shown=gold_shown
    )


def _option(m: YamlMap, key: str, default: bool | str) -> bool | str:
    return m.flag(key, default) if isinstance(default, bool) else m.text(key, default)
