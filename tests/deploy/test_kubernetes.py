"""deploy/kubernetes, as it is written: what a pod may do, and who may speak to whom. Nothing is rendered."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from agent.site.settings import Settings
from tests.deploy.guides import DEPLOY

KUBERNETES = DEPLOY / "kubernetes"
VERSION = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))["project"]["version"]
Object = dict[str, Any]
AGENT, MODEL, AGGREGATOR = (
    {"app.kubernetes.io/name": "intramural", "app.kubernetes.io/component": name}
    for name in ("agent", "model", "aggregator")
)
INGRESS = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}


def read_objects() -> Iterator[Object]:
    """Yield the objects of base and overlays."""
    for path in sorted([*KUBERNETES.glob("base/*.yaml"), *KUBERNETES.glob("overlays/*/*.yaml")]):
        if path.name not in ("kustomization.yaml", "model_deployments.yaml"):
            yield from yaml.safe_load_all(path.read_text("utf-8"))


OBJECTS = {(each["kind"], each["metadata"]["name"]): each for each in read_objects()}
PODS: dict[str, Object] = {
    name: (each["spec"].get("jobTemplate") or each)["spec"]["template"]
    for (_, name), each in OBJECTS.items()
    if "template" in (each.get("spec") or {}) or "jobTemplate" in (each.get("spec") or {})
}
POLICIES = {name: each["spec"] for (kind, name), each in OBJECTS.items() if kind == "NetworkPolicy"}


def list_containers(pod: Object) -> list[Object]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def test_there_are_pods_to_check():
    assert set(PODS) == {
        "intramural-agent",
        "intramural-purge",
        "intramural-model",
        "intramural-aggregator",
    }


@pytest.mark.parametrize("name", PODS)
def test_a_pod_may_do_no_more_than_its_program_needs(name: str):
    pod = PODS[name]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["runAsGroup"] == 65532
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    for container in list_containers(pod):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]
        assert "memory" in container["resources"]["requests"]


@pytest.mark.parametrize("name", PODS)
def test_keys_stay_closed_to_the_group_when_a_volume_is_mounted_again(name: str):
    security = PODS[name]["spec"]["securityContext"]
    assert security.get("fsGroupChangePolicy", "OnRootMismatch") == "OnRootMismatch"
    assert ("fsGroup" in security) == ("fsGroupChangePolicy" in security)


@pytest.mark.parametrize("name", PODS)
def test_volumes_are_a_claim_memory_and_read_only_files(name: str):
    pod = PODS[name]["spec"]
    kinds = {
        volume["name"]: next(kind for kind in volume if kind != "name") for volume in pod["volumes"]
    }
    assert set(kinds.values()) <= {"persistentVolumeClaim", "configMap", "secret", "emptyDir"}
    for volume in pod["volumes"]:
        if kinds[volume["name"]] == "secret":
            assert volume["secret"]["defaultMode"] == 0o440
        if volume["name"] == "tmp" and name != "intramural-model":
            assert volume["emptyDir"]["medium"] == "Memory"
    for container in list_containers(pod):
        for mount in container["volumeMounts"]:
            assert mount.get("readOnly") or kinds[mount["name"]] in (
                "persistentVolumeClaim",
                "emptyDir",
            )


def test_secrets_are_files_and_none_is_in_the_manifests():
    assert not [kind for kind, _ in OBJECTS if kind == "Secret"]
    for pod in PODS.values():
        for container in list_containers(pod["spec"]):
            sources = [*container.get("envFrom", []), *container.get("env", [])]
            assert not [
                source
                for source in sources
                if "secret" in str(source).lower() and "/run/" not in str(source)
            ]


def test_programs_that_serve_are_watched_and_others_are_not():
    for name, template in PODS.items():
        (container,) = template["spec"]["containers"]
        probes = {key for key in container if key.endswith("Probe")}
        expected = (
            set()
            if name == "intramural-purge"
            else {"startupProbe", "livenessProbe", "readinessProbe"}
        )
        assert probes == expected


def test_nothing_passes_that_no_policy_names():
    assert POLICIES["deny-all"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for policy in POLICIES.values():
        assert policy["policyTypes"] == ["Ingress", "Egress"]


def test_the_agent_reaches_the_model_server_and_the_aggregator_and_nothing_else():
    policy = POLICIES["intramural-agent"]
    assert policy["podSelector"] == {"matchLabels": AGENT}
    assert policy["ingress"] == [{"from": [INGRESS], "ports": [{"protocol": "TCP", "port": 8766}]}]
    addresses = [alias["ip"] for alias in PODS["intramural-agent"]["spec"]["hostAliases"]]
    assert policy["egress"] == [
        {
            "to": [{"ipBlock": {"cidr": f"{address}/32"}}],
            "ports": [{"protocol": "TCP", "port": port}],
        }
        for address, port in zip(addresses, (8000, 443), strict=True)
    ]


def test_the_model_server_is_reached_by_the_agent_alone_and_reaches_nothing():
    policy = POLICIES["intramural-model"]
    assert policy["podSelector"] == {"matchLabels": MODEL}
    agent = {"podSelector": {"matchLabels": AGENT}}
    assert policy["ingress"] == [{"from": [agent], "ports": [{"protocol": "TCP", "port": 8000}]}]
    assert "egress" not in policy


def test_the_aggregator_reaches_its_database_and_nothing_else():
    policy = POLICIES["intramural-aggregator"]
    assert policy["podSelector"] == {"matchLabels": AGGREGATOR}
    assert policy["ingress"] == [{"from": [INGRESS], "ports": [{"protocol": "TCP", "port": 8750}]}]
    (alias,) = PODS["intramural-aggregator"]["spec"]["hostAliases"]
    (rule,) = policy["egress"]
    assert rule == {
        "to": [{"ipBlock": {"cidr": f"{alias['ip']}/32"}}],
        "ports": [{"protocol": "TCP", "port": 5432}],
    }


def test_a_policy_or_none_selects_each_pod_and_the_purge_has_no_network():
    selected = [policy["podSelector"].get("matchLabels") for policy in POLICIES.values()]
    for name, template in PODS.items():
        assert selected.count(template["metadata"]["labels"]) == (name != "intramural-purge")


def test_one_agent_has_the_volume_and_a_drain_does_not_end_it():
    for name in ("intramural-agent", "intramural-aggregator"):
        assert OBJECTS["StatefulSet", name]["spec"]["replicas"] == 1
        budget = OBJECTS["PodDisruptionBudget", name]["spec"]
        assert budget["minAvailable"] == 1
        assert budget["selector"] == OBJECTS["StatefulSet", name]["spec"]["selector"]


def test_claims_secrets_and_settings_that_pods_name_are_there_or_in_the_guide():
    guide = (KUBERNETES / "README.md").read_text("utf-8")
    generated = yaml.safe_load(
        (KUBERNETES / "overlays/agent/kustomization.yaml").read_text("utf-8")
    )
    maps = {each["name"] for each in generated["configMapGenerator"]}
    for template in PODS.values():
        for volume in template["spec"]["volumes"]:
            if "persistentVolumeClaim" in volume:
                assert (
                    "PersistentVolumeClaim",
                    volume["persistentVolumeClaim"]["claimName"],
                ) in OBJECTS
            if "configMap" in volume:
                assert volume["configMap"]["name"] in maps
            if "secret" in volume:
                assert f"secret generic {volume['secret']['secretName']} " in guide


def test_every_variable_of_the_agent_is_a_setting():
    for overlay in ("agent", "agent-gpu"):
        content = yaml.safe_load(
            (KUBERNETES / "overlays" / overlay / "kustomization.yaml").read_text("utf-8")
        )
        (literals,) = (
            each["literals"] for each in content["configMapGenerator"] if "literals" in each
        )
        for literal in literals:
            name = literal.partition("=")[0].removeprefix("INTRAMURAL_").lower()
            assert name in Settings.model_fields


def test_images_are_named_by_this_version():
    for template in PODS.values():
        for container in list_containers(template["spec"]):
            name, _, tag = container["image"].rpartition(":")
            assert name in {
                f"localhost/intramural-{each}" for each in ("agent", "agent-vllm", "aggregator")
            }
            assert tag == VERSION
    chart = yaml.safe_load((KUBERNETES / "chart/Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == VERSION
