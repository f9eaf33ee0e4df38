"""Names of HELM's catalogue stay as they are."""

from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.vouched import vouched_names
from agent.exchange.helm.redaction.walk import FolderRedactors
from tests.agent.exchange.helm.redaction.redacted_folders import KEY


def test_all_names_of_helm_itself_stay(redactors: FolderRedactors):
    names = Names(redactors.names, KEY, redacted_before=False)
    assert all(names.show(name) == name for name in vouched_names())
