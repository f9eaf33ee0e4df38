-- Lists of a run's instances by score, and their counts, without reading the run's other metrics.
CREATE INDEX scores_by_value ON scores (run_id, metric, value, position, reason);
