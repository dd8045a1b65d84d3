"""Measure whether an LLM flow got better: evaluators, datasets, runs and reports."""
