"""Measuring side by side: rounds that visit each contestant in turn, medians, ratios, memory."""

import statistics
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import psutil
from rich.console import Console
from rich.table import Table

Contestants = Mapping[str, Callable[[], float]]


class NotAvailable(Exception):
    """A contestant that cannot take part here; the text says why."""


@dataclass
class Outcome:
    """Values of each contestant, round by round, and why others did not take part."""

    values: dict[str, list[float]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def median(self, name: str) -> float:
        """The median over the rounds."""
        return statistics.median(self.values[name])


def compare(contestants: Contestants, rounds: int) -> Outcome:
    """Run each contestant once a round, so that a busy moment hits all of them alike."""
    outcome = Outcome()
    for _ in range(rounds):
        for name, run in contestants.items():
            if name in outcome.absent:
                continue
            try:
                outcome.values.setdefault(name, []).append(run())
            except NotAvailable as reason:
                outcome.absent[name] = str(reason)
                outcome.values.pop(name, None)
    return outcome


def show(console: Console, title: str, unit: str, outcome: Outcome, base: str, scale: float = 1.0) -> None:
    """A table of medians with the ratio to `base`."""
    table = Table(title=title, title_justify="left", box=None)
    for heading in ("", f"median {unit}", "lowest", "highest", f"ratio to {base}"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, values in outcome.values.items():
        numbers = [outcome.median(name), min(values), max(values)]
        ratio = outcome.median(name) / outcome.median(base) if base in outcome.values else float("nan")
        table.add_row(name, *(f"{number * scale:.1f}" for number in numbers), f"{ratio:.2f}")
    for name, reason in outcome.absent.items():
        table.add_row(name, f"[dim]left out: {reason}[/dim]", "", "", "")
    console.print(table)
    console.print()


class Memory:
    """Resident memory of a process in MB (10^6 bytes): before, peak and after the block."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self.before = self.peak = self.after = 0.0

    def __enter__(self) -> Self:
        self.before = self.peak = self._now()
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._watcher.join()
        self.after = self._now()
        self.peak = max(self.peak, self.after)

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.peak = max(self.peak, self._now())

    def _now(self) -> float:
        return float(self._process.memory_info().rss) / 1e6


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def last_line(text: str) -> str:
    """The last line of what a command wrote, shortened; empty where it wrote nothing."""
    lines = text.strip().splitlines()
    return lines[-1][:160] if lines else ""
