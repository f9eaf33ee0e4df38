"""The spans of detections: their boundaries and how they merge."""
