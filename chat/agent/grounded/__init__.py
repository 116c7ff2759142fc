"""The grounded agent: plan, look up, judge, answer with citations. Plain Python."""
