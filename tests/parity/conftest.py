"""Says at the end of a run how much was compared, and which faults explain the differences of the default."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests.parity.test_parity import LINES, MET

    if LINES:
        terminalreporter.section("parity with HELM")
        for name, line in sorted(LINES.items()):
            terminalreporter.write_line(f"{name:22} {line}")
        for name, count in MET.most_common():
            terminalreporter.write_line(f"{name:24} {count:6}")
