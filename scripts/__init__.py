"""What make runs: set up, start, check and test."""
