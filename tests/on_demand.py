"""Runs that several tests look at: each takes place when a test asks for it first."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


class OnDemand(Mapping):
    """What each of several runs gives, by label; one that no test asks for does not take place."""

    def __init__(self, labels: Iterable[str], run: Callable[[str], Any]) -> None:
        self.labels, self.run = tuple(labels), run
        self.done: dict[str, Any] = {}

    def __getitem__(self, label: str) -> Any:
        if label not in self.labels:
            raise KeyError(label)
        if label not in self.done:
            self.done[label] = self.run(label)
        return self.done[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)
