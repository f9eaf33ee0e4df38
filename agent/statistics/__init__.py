"""How sure a figure is, and whether two differ. Pure: no clock, disk, network, and no randomness without a seed."""
