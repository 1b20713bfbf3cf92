"""What differs between two runs beyond noise.

The machine's speed drifts by more than what is looked for. So each round's figure of ours is first divided by that of
code that is the same in both runs and was measured beside it: the case by hand, else the peers, else all cases by hand
of the round together. A change counts when it is larger than FLOOR and than NOISE_FACTOR standard errors of both runs
together, and when the quartiles of the rounds lie apart. FLOOR is there because figures of one build differ by a few per
cent between runs, for whichever memory they got.
"""

import dataclasses
import math
import statistics

from harness import figures
from harness.rows import LIMIT, OURS

FLOOR = 0.05
NOISE_FACTOR = 4
OUR_CODE = (OURS, "bide epoll")
BY_HAND = (LIMIT, "raw uring", "raw epoll")
EXACT = {"bytes", "faults"}  # units that drift doesn't touch


@dataclasses.dataclass(frozen=True)
class Change:
    key: str
    title: str
    ratio: float  # new by old, drift taken out
    noise: float  # what may be chance, as a part of the figure
    real: bool

    @property
    def slower(self):
        return self.real and self.ratio > 1


def by_key(result):
    return {case["key"]: case for case in result["cases"] if OURS in case["peers"]}


def speed_of_rounds(result, keys):
    """Of each round the geometric mean of all cases by hand that both runs have."""
    columns = [case["peers"][LIMIT]["rounds"] for case in result["cases"] if case["key"] in keys]
    count = min(map(len, columns), default=0)
    return [figures.geometric_mean([column[number] for column in columns]) for number in range(count)]


def references(case, other):
    common = [peer for peer in case["peers"] if peer in other["peers"] and peer not in OUR_CODE]
    return [peer for peer in common if peer in BY_HAND] or common


def relative(case, peers, speed):
    ours = case["peers"][OURS]["rounds"]
    if case["unit"] in EXACT:
        return ours
    if peers:
        columns = [case["peers"][peer]["rounds"] for peer in peers]
        beside = [figures.geometric_mean(row) for row in zip(*columns)]
    else:
        beside = speed or [1.0]
        beside = [beside[number % len(beside)] for number in range(len(ours))]
    return [value / reference for value, reference in zip(ours, beside)]


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def compared(key, case, title, old, new):
    if not min(old) > 0:
        return Change(key, title, math.inf if max(new) > 0 else 1.0, 0.0, max(new) > 0)
    ratio = figures.median(new) / figures.median(old)
    noise = math.hypot(*(figures.standard_error(values) / figures.median(values) for values in (old, new)))
    (old_first, old_third), (new_first, new_third) = quartiles(old), quartiles(new)
    apart = new_first > old_third or new_third < old_first
    real = abs(ratio - 1) > max(FLOOR, NOISE_FACTOR * noise) and apart
    return Change(key, title, ratio, max(FLOOR, NOISE_FACTOR * noise), real)


def changes(old_result, new_result):
    """A Change for each case that both runs measured."""
    old_cases, new_cases = by_key(old_result), by_key(new_result)
    keys = {key for key, case in old_cases.items()
            if key in new_cases and LIMIT in case["peers"] and LIMIT in new_cases[key]["peers"]}
    old_speed, new_speed = speed_of_rounds(old_result, keys), speed_of_rounds(new_result, keys)
    found = []
    for key, old in old_cases.items():
        if (new := new_cases.get(key)) is None:
            continue
        peers = references(old, new)
        found.append(compared(key, new, new["title"], relative(old, peers, old_speed), relative(new, peers, new_speed)))
    return found


def digest_changes(old_result, new_result):
    """Core cases whose schedule is another."""
    old, new = old_result["digests"], new_result["digests"]
    return [name for name in old if name in new and old[name] != new[name]]


def instruction_changes(old_result, new_result, floor=0.02):
    """(core case, new by old) where the count of instructions moved: no noise touches it."""
    old, new = old_result.get("instructions", {}), new_result.get("instructions", {})
    if old_result["compiler"] != new_result["compiler"]:
        return []
    return [(name, new[name] / count) for name, count in old.items()
            if name in new and abs(new[name] / count - 1) > floor]
