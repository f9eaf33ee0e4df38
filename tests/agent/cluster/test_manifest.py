"""The manifest of a cluster for Kubernetes asks for all that a cluster must have before it gets work."""

from pathlib import Path
from typing import Any

import pytest
import yaml

MANIFEST = Path(__file__).parents[3] / "deploy/kubernetes/raycluster.yaml"


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


def test_every_pod_asks_for_a_token_speaks_tls_and_hides_its_session(
    documents: list[dict[str, Any]],
):
    spec = documents[0]["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        (ray,) = pod["containers"]
        environment = {entry["name"]: entry.get("value") for entry in ray["env"]}
        assert environment["RAY_AUTH_MODE"] == "token"
        assert environment["RAY_USE_TLS"] == "1"
        assert environment["RAY_USAGE_STATS_ENABLED"] == "0"
        assert "RAY_AUTH_TOKEN" in environment
        folder = group["rayStartParams"]["temp-dir"]
        assert folder.startswith("/private/closed/")
        assert "umask 077\nmkdir -p /private/closed\n" in pod["initContainers"][0]["args"][0]
        assert "authority" not in {mount["name"] for mount in ray["volumeMounts"]}  # its key
        for container in (ray, *pod["initContainers"]):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]


def test_no_pod_is_reached_from_outside_the_cluster(documents: list[dict[str, Any]]):
    policy = documents[1]["spec"]
    own = {"podSelector": {"matchLabels": {"ray.io/cluster": documents[0]["metadata"]["name"]}}}
    assert policy["podSelector"] == own["podSelector"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["from"] for rule in policy["ingress"]] == [[own]]
    assert policy["egress"][0]["to"] == [own]
