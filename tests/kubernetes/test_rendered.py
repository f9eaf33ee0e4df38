"""The manifests as kubectl and Helm render them: `make test-kubernetes`. No cluster is asked."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.guides import DEPLOY

KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = ("agent", "agent-gpu", "aggregator")
VERSIONS = ("1.29", "1.37")
TOOLS = os.environ.get("INTRAMURAL_KUBERNETES_TOOLS", "")
pytestmark = pytest.mark.skipif(not TOOLS, reason="make test-kubernetes renders the manifests")
Object = dict[str, Any]
GPU = {
    "model": {"enabled": True},
    "agent": {
        "settings": {"INTRAMURAL_ALLOWED_HOSTS": "intramural-model"},
        "models": (KUBERNETES / "overlays/agent-gpu/model_deployments.yaml").read_text("utf-8"),
        "peers": [{"ip": "203.0.113.7", "port": 443, "name": "board.example"}],
    },
}
VALUES: dict[str, Object] = {
    "agent": {},
    "agent-gpu": GPU,
    "aggregator": {"agent": {"enabled": False}, "aggregator": {"enabled": True}},
}
"""The chart's values for what each overlay has."""


def run_tool(word: str, argument: str, given: object) -> str:
    command = (TOOLS, str(Path(__file__).with_name("helm_tool.py")), word, argument)
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read_objects(text: str) -> list[Object]:
    return [each for each in yaml.safe_load_all(text) if each]


def kustomize(folder: Path) -> list[Object]:
    """Return what kubectl makes of a folder."""
    done = subprocess.run(
        ("kubectl", "kustomize", str(folder)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return read_objects(done.stdout)


def render_chart(values: Object) -> list[Object]:
    """Return what Helm makes of the chart."""
    rendered = json.loads(run_tool("render", str(KUBERNETES / "chart"), values))
    return [each for text in rendered.values() for each in read_objects(text)]


def index(objects: list[Object]) -> dict[tuple[str, str], Object]:
    """Return objects by kind and name, without what only one of the two tools adds."""
    found = {}
    for each in objects:
        metadata = each["metadata"]
        metadata.pop("namespace", None)
        metadata.pop("annotations", None)
        found[each["kind"], metadata["name"]] = each
    found.pop(("Namespace", "intramural-agent"), None)
    found.pop(("Namespace", "intramural-aggregator"), None)
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_knows_every_field_of_an_overlay_and_of_the_chart(overlay: str, version: str):
    run_tool("check", version, kustomize(KUBERNETES / "overlays" / overlay))
    run_tool("check", version, render_chart(VALUES[overlay]))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_chart_makes_what_the_overlay_makes(overlay: str):
    assert index(render_chart(VALUES[overlay])) == index(
        kustomize(KUBERNETES / "overlays" / overlay)
    )


def test_a_misspelt_field_is_found():
    (policy,) = (each for each in render_chart({}) if each["metadata"]["name"] == "deny-all")
    policy["spec"]["policyType"] = []
    with pytest.raises(AssertionError, match="policyType"):
        run_tool("check", VERSIONS[0], [policy])


def test_an_overlay_of_ones_own_as_in_the_guide_changes_values_and_peers(tmp_path: Path):
    guide = (KUBERNETES / "README.md").read_text("utf-8")
    (text,) = re.findall(
        r"^```yaml\n(apiVersion: kustomize.*?)^```$", guide, re.DOTALL | re.MULTILINE
    )
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "intramural").symlink_to(DEPLOY.parent)
    (own / "model_deployments.yaml").write_text("model_deployments: []\n")
    (own / "kustomization.yaml").write_text(
        text.replace("../intramural/deploy", os.path.relpath(DEPLOY, own))
    )
    found = index(kustomize(own))
    pod = found["StatefulSet", "intramural-agent"]["spec"]["template"]["spec"]
    images = {each["image"] for each in (*pod["initContainers"], *pod["containers"])}
    assert [image.partition("@")[0] for image in images] == [
        "registry.hospital.example/intramural-agent"
    ]
    assert (
        found["ConfigMap", "intramural-models"]["data"]["model_deployments.yaml"]
        == "model_deployments: []\n"
    )
    settings = found["ConfigMap", "intramural-agent"]["data"]
    policy = found["NetworkPolicy", "intramural-agent"]["spec"]
    addresses = [alias["ip"] for alias in pod["hostAliases"]]
    assert [rule["to"][0]["ipBlock"]["cidr"] for rule in policy["egress"]] == [
        f"{ip}/32" for ip in addresses
    ]
    assert addresses == ["10.20.30.40", "198.51.100.20"]
    assert settings["INTRAMURAL_ALLOWED_HOSTS"] == pod["hostAliases"][0]["hostnames"][0]
    assert pod["hostAliases"][1]["hostnames"][0] in settings["INTRAMURAL_AGGREGATOR_URL"]
