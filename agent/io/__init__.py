"""Files, folders, YAML, TLS and progress: what touches the machine."""
