"""Queues, threads and pools of threads."""
