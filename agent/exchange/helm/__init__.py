"""HELM's formats: import and export."""
