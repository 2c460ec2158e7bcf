"""Tests of the benchmark itself: what it asks, checks, counts and writes."""
