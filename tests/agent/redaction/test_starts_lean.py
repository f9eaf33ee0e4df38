"""What an engine loads: no downloader, no HTTP client of spaCy's, and no more than a small machine has."""

from tests.memory import run_measured


def test_an_engine_starts_without_the_command_line_of_spacy_and_in_bounded_memory():
    script = (
        "import sys\n"
        "from agent.redaction import open_redactor\n"
        "print(open_redactor().redact('Patient MRN: 4471209 was seen.'))\n"
        "import spacy\n"
        "assert spacy.__version__\n"
        "print([name for name in ('typer', 'weasel', 'httpx', 'spacy.cli.download', 'torch') if name in sys.modules])\n"
        "print(peak())\n"
    )
    shown, loaded, peak = run_measured(script).splitlines()
    assert shown == "Patient MRN: [MRN-1] was seen."
    assert loaded == "[]"
    assert int(peak) < 200  # MB
