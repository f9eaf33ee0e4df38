"""The steward's tool: shows what a site asks to publish from its exact bytes, signs it, and keeps a list of its own."""
