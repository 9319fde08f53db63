"""Tests of partitions."""
