"""Reading: from an answer's text to the option, number, verdict or query that it states. Pure; nothing is guessed."""
