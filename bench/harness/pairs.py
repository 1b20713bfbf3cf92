"""Two builds measured against each other now, by turns: the machine's drift hits both alike, so that a few per cent can be
seen that two runs at different times can not show."""

import re

from harness import build, counts
from harness.micro import Micro
from harness.rows import CASES, OURS


def builds(directories):
    """Of each build directory what can measure its cases."""
    found = []
    for directory in directories:
        programs = sorted((directory / "bench").glob("*_bench"))
        if not programs or not (directory / "bench" / "core_report").exists():
            raise ValueError(f"{directory} has no benchmarks: build it with -Dbench=enabled")
        found.append(Micro({OURS: programs}, quick=True))
    return found


def measured(directories, only, pairs):
    """{case: [(old, new)]}. Each in a process of its own, every other time the other way round."""
    old, new = builds(directories)
    cases = [case for case in CASES if case.samples(OURS, quick=True) > 1 and re.search(only, case.key)
             and old.peers(case) and new.peers(case)]
    figures = {case: [] for case in cases}
    for number in range(pairs):
        for case in cases:
            order = (old, new) if number % 2 == 0 else (new, old)
            pair = [build_of.measure(case, OURS)["figure"] for build_of in order]
            figures[case].append(tuple(pair if number % 2 == 0 else reversed(pair)))
    return figures


def exact(directory):
    """What no noise touches: the digests of schedules, and instructions."""
    return {
        "digests": build.digests(directory / "bench" / "core_report"),
        "instructions": counts.counted(directory),
    }
