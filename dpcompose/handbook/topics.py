"""The words of the spec language, by topic: what a reader of them should know, with examples."""

from __future__ import annotations

from collections.abc import Mapping

from dpcompose.handbook import dataset_topics, goal_topics, mechanism_topics, partition_topics
from dpcompose.handbook.entry import Topic

#: Every topic, in the order in which a spec is written, under its heading.
TOPICS: Mapping[str, tuple[Topic, ...]] = {
    "What is asked": goal_topics.ASKED,
    "What is protected": goal_topics.RELATIONS,
    "Sensitive data": dataset_topics.ROOTS,
    "Maps": dataset_topics.MAPS,
    "Partitions": partition_topics.PARTITIONS,
    "Mechanisms": mechanism_topics.ENTRIES,
    "Stated guarantees": mechanism_topics.NOTIONS,
    "Concrete mechanisms": mechanism_topics.FAMILIES,
}


def topics_of(word: str) -> tuple[Topic, ...]:
    """The topics that a word belongs to, those named by it first."""
    found = [each for topics in TOPICS.values() for each in topics if word in each.words]
    return tuple(sorted(found, key=lambda each: each.words[0] != word))
