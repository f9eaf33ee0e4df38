"""Who may submit what: sites, keys, scorecards, models; signed by root keys."""
