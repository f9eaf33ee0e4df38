"""The dashboards and alert rules name only metrics that a real agent and a real aggregator show."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from agent.access.roles import Action
from agent.monitoring.counters import COUNTERS, TIMERS
from agent.service.web.gauges import GAUGES
from agent.service.web.routes import API, PAGES, PROBES
from protocol.errors import Code
from tests.agent.delivery.conftest import federation, joined_key, joined_once, served, site, wire
from tests.agent.service.web.conftest import joined, make_site
from tests.agent.service.web.running_service import RunningService
from tests.aggregator.conftest import Served
from tests.deploy.certificates import write_certificate

__all__ = [
    "federation",
    "joined",
    "joined_key",
    "joined_once",
    "make_site",
    "served",
    "site",
    "wire",
]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/monitoring"
PROGRAMS = ("agent", "aggregator")
OF_PROMETHEUS = {"up"}
WORDS = {"and", "or", "unless", "bool", "offset"}
NOT_OF_THE_PAGE = {"job", "instance"}  # labels that Prometheus adds
GRAFANA_SCHEMA = 39
COLUMNS = 24


@dataclass
class Shown:
    """What one program's page /metrics shows: the labels of each sample, by its name."""

    samples: dict[str, list[Mapping[str, str]]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "Shown":
        shown = cls()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                shown.samples.setdefault(sample.name, []).append(sample.labels)
        return shown


@dataclass(frozen=True)
class Selector:
    """A metric in an expression, with its conditions on labels."""

    name: str
    conditions: tuple[tuple[str, str, str], ...]


def read_selectors(expression: str) -> Iterator[Selector]:
    """Yield the metrics that a PromQL expression names."""
    grouping = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*(?:\([^)]*\))?"
    expression = re.sub(grouping, " ", expression)
    expression = re.sub(r"\[[0-9a-z:]+\]", " ", expression)
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?", expression):
        name, rest = match[1], match[2] or ""
        is_number = expression[match.start() - 1 : match.start()].isdigit()  # 2e9
        if rest == "(" or name in WORDS or is_number:
            continue
        conditions = tuple(re.findall(r'(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"', rest))
        yield Selector(name, conditions)


def expressions_of(program: str) -> list[str]:
    rules = yaml.safe_load((FOLDER / f"{program}-alerts.yml").read_text("utf-8"))
    found = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    board = json.loads((FOLDER / f"{program}-dashboard.json").read_text("utf-8"))
    found += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return found


def list_faults(expression: str, shown: Shown, free: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield what an expression names and the page does not show.

    Args:
        expression: PromQL.
        shown: the page.
        free: values that a label may have besides those shown, because they are not there from the start.
    """
    for selector in read_selectors(expression):
        if selector.name in OF_PROMETHEUS:
            continue
        samples = shown.samples.get(selector.name)
        if samples is None:
            yield f"no metric {selector.name}"
            continue
        for label, operator, value in selector.conditions:
            if label in NOT_OF_THE_PAGE:
                continue
            known = {sample[label] for sample in samples if label in sample} | free.get(
                label, set()
            )
            if not any(label in sample for sample in samples):
                yield f"{selector.name} has no label {label}"
            elif operator == "=" and value not in known:
                yield f"{selector.name} has no {label}={value}"
            elif operator == "=~" and label != "status":
                missing = [word for word in value.split("|") if word not in known]
                if missing:
                    yield f"{selector.name} has no {label} {missing}"


def scrape_agent(running: RunningService) -> str:
    with running.site.store() as store:
        (vera,) = [each for each in store.accounts.read_all() if each.name == "vera"]
    token = running.make_token(vera, Action.VIEW_METRICS)
    answer = running.visit().get("/metrics", Authorization=f"Bearer {token}")
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.timeout(300)
def test_every_metric_and_label_that_rules_and_dashboards_name_is_in_a_real_scrape(
    joined: RunningService, served: Served
):
    settings = joined.site.directory / "site.yaml"
    write_certificate(joined.site.keys / "service.pem")
    with settings.open("a") as file:
        file.write("service_tls_certificate: keys/service.pem\nservice_tls_key: keys/service.pem\n")
    joined.service.reload()
    joined.visit().get("/")
    served.get("/v1/log/checkpoint")
    pages = {"agent": scrape_agent(joined), "aggregator": served.get("/metrics").text}
    free = {
        "route": {route.path for route in (*PAGES, *API, *PROBES)},
        "method": {"GET", "POST"},
        "code": {code.value for code in Code},
    }
    for program in PROGRAMS:
        shown = Shown.parse(pages[program])
        faults = {}
        for expression in expressions_of(program):
            if found := list(list_faults(expression, shown, free)):
                faults[expression] = found
        assert faults == {}


def test_the_documents_list_every_metric_with_its_label_and_no_other():
    expected = {"intramural_answers_total": "`method`, `route`, `status`"}
    expected["intramural_answer_seconds"] = "`method`"
    for counter in COUNTERS:
        expected[f"{counter.name}_total"] = f"`{counter.label}`" if counter.label else ""
    for timer in TIMERS:
        expected[timer.name] = ""
    for gauge in GAUGES:
        expected[gauge.name] = f"`{gauge.label}`" if gauge.label else ""
    page = (ROOT / "docs/monitoring.md").read_text("utf-8")
    rows = re.findall(r"^\| `(intramural_\w+)` \| ?(.*?) ?\| .+ \|$", page, re.MULTILINE)
    assert dict(rows) == expected


def test_the_test_finds_metrics_and_labels_that_do_not_exist():
    shown = Shown.parse('# TYPE a gauge\na{state="x"} 1\n# TYPE b gauge\nb 2\n')

    def faults(expression: str) -> list[str]:
        return list(list_faults(expression, shown, {}))

    assert faults('sum by (instance) (rate(a{state="x",job="j"}[5m])) / b > 2e9') == []
    assert faults("sum(c)") == ["no metric c"]
    assert faults('a{kind="x"}') == ["a has no label kind"]
    assert faults('a{state="y"}') == ["a has no state=y"]
    assert faults('a{state=~"x|z"} unless on (instance) b') == ["a has no state ['z']"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_alert_rules_are_rules(program: str):
    rules = yaml.safe_load((FOLDER / f"{program}-alerts.yml").read_text("utf-8"))
    assert set(rules) == {"groups"}
    names = []
    for group in rules["groups"]:
        assert set(group) == {"name", "rules"}
        for rule in group["rules"]:
            assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
            assert rule["labels"]["severity"] in ("warning", "critical")
            assert rule["annotations"]["summary"].endswith(".")
            assert re.fullmatch(r"\d+[mhd]", rule.get("for", "1m"))
            assert rule["expr"].count("(") == rule["expr"].count(")")
            names.append(rule["alert"])
    assert len(set(names)) == len(names)
    prefix = f"Intramural{program.title()}"
    assert all(name.startswith(prefix) for name in names)
    page = (ROOT / "docs/monitoring.md").read_text("utf-8")
    assert re.findall(rf"^\| `({prefix}\w+)` \|", page, re.MULTILINE) == names


@pytest.mark.parametrize("program", PROGRAMS)
def test_dashboards_are_of_the_schema_that_they_state(program: str):
    board = json.loads((FOLDER / f"{program}-dashboard.json").read_text("utf-8"))
    assert board["schemaVersion"] == GRAFANA_SCHEMA
    assert board["uid"] == f"intramural-{program}"
    assert {variable["name"] for variable in board["templating"]["list"]} == {
        "datasource",
        "instance",
    }
    panels: list[dict[str, Any]] = board["panels"]
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["type"] in ("timeseries", "stat")
        assert panel["title"]
        assert panel["description"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= COLUMNS
        columns = range(place["x"], place["x"] + place["w"])
        cells = {(x, y) for x in columns for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken
        taken |= cells
        assert panel["targets"]
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"
            assert "$instance" in target["expr"]


def test_the_monitoring_systems_own_tool_accepts_the_rules_and_they_fire_when_they_should():
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool (Debian: prometheus) is not installed")
    files = [str(FOLDER / f"{program}-alerts.yml") for program in PROGRAMS]
    subprocess.run([tool, "check", "rules", *files], check=True, capture_output=True)
    config = ["check", "config", "--syntax-only", str(FOLDER / "prometheus.yml")]
    subprocess.run([tool, *config], check=True, capture_output=True)
    tests = Path(__file__).with_name("alerts_test.yml")
    done = subprocess.run(
        [tool, "test", "rules", str(tests)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_names_the_jobs_that_rules_and_dashboards_expect():
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    jobs = {job["job_name"] for job in config["scrape_configs"]}
    expected = {f"intramural-{program}" for program in PROGRAMS}
    assert jobs == expected
    for program in PROGRAMS:
        for expression in expressions_of(program):
            named = set(re.findall(r'job="([^"]*)"', expression))
            assert named <= {f"intramural-{program}"}, expression
    assert config["rule_files"] == [f"{program}-alerts.yml" for program in PROGRAMS]
