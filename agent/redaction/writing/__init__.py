"""What is written in the place of a finding: tags, surrogates, moved dates."""
