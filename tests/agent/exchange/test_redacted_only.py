"""Text that skipped redaction stops an export."""

from pathlib import Path

import pytest

from tests.agent.exchange.tables.exported_tables import export
from tests.agent.service.filled_site import FilledSite, case


def test_text_that_skipped_redaction_stops_a_table(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from agent.redaction.gateway.cases import Redacting

    filled.add([case(0)])
    monkeypatch.setattr(
        Redacting,
        "clear_records",
        lambda self, records, which, subjects=(), published=(): [list(row) for row in records],
    )
    with pytest.raises(TypeError, match="without redaction"):
        export(filled, tmp_path / "out")
