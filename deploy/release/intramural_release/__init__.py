"""What makes a release: locks of dependencies, distributions, bills of materials, signed checksums, kits.

Serves this repository and the people who release from it; it is in no wheel.
"""
