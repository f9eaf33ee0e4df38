"""Import and export of HELM's file formats."""
