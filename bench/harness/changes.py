"""What differs between two runs beyond noise.

The machine's speed drifts by more than what is looked for. So each figure of ours is first divided by that of code that is
the same in both runs and was measured beside it: the case by hand, sample by sample; else all cases by hand of the
round together; of servers and tools the peers. A change counts when it is larger than FLOOR, for drift does not slow all
code alike, and than so many standard errors of both runs together: FACTOR where there are MANY samples; with fewer,
whose error is itself a guess, FACTOR_OF_FEW, and all of one run have to lie beyond all of the other. Pairs of two builds,
measured by turns, need no reference, and show less.
"""

import dataclasses
import math

from harness import figures
from harness.rows import LIMIT, OURS

FLOOR = 0.15
FLOOR_OF_PAIRS = 0.04  # of one build in another place of memory
MANY, FACTOR, FACTOR_OF_FEW = 20, 3.3, 4
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


def references(case, other, speed_known):
    """The peers to divide by; none: by the speed of the round."""
    common = [peer for peer in case["peers"] if peer in other["peers"] and peer not in OUR_CODE]
    by_hand = [peer for peer in common if peer in BY_HAND]
    return by_hand or ([] if speed_known and "samples" in case["peers"][OURS] else common)


def samples(said):
    """A list for each round."""
    return said.get("samples") or [[figure] for figure in said["rounds"]]


def relative(case, peers, speed):
    """Our samples, each as a part of what was measured beside it."""
    ours = samples(case["peers"][OURS])
    if case["unit"] in EXACT:
        return [value for one in ours for value in one]
    if peers:
        beside = [[figures.geometric_mean(row) for row in zip(*columns)]
                  for columns in zip(*(samples(case["peers"][peer]) for peer in peers))]
    else:
        beside = [[pace] for pace in speed or [1.0]]
    found = []
    for number, values in enumerate(ours):
        references = beside[number % len(beside)]
        found += [value / references[place % len(references)] for place, value in enumerate(values)]
    return found


def compared(key, case, title, old, new):
    if not min(old) > 0:
        return Change(key, title, math.inf if max(new) > 0 else 1.0, 0.0, max(new) > 0)
    ratio = figures.median(new) / figures.median(old)
    noise = math.hypot(*(figures.standard_error(values) / figures.median(values) for values in (old, new)))
    many = min(len(old), len(new)) >= MANY
    apart = many or min(new) > max(old) or max(new) < min(old)
    noise = max(FLOOR, (FACTOR if many else FACTOR_OF_FEW) * noise)
    return Change(key, title, ratio, noise, abs(ratio - 1) > noise and apart)


def of_pairs(case, pairs):
    """The Change between two builds, of [(old, new)]."""
    ratios = [math.log(new / old) for old, new in pairs]
    noise = max(FLOOR_OF_PAIRS, FACTOR * figures.standard_error(ratios))
    ratio = math.exp(figures.median(ratios))
    return Change(case.key, case.title, ratio, noise, abs(ratio - 1) > noise)


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
        peers = references(old, new, bool(old_speed and new_speed))
        found.append(compared(key, new, new["title"], relative(old, peers, old_speed), relative(new, peers, new_speed)))
    return found


def digest_changes(old_result, new_result):
    """Core cases whose schedule is another."""
    old, new = old_result["digests"], new_result["digests"]
    return [name for name in old if name in new and old[name] != new[name]]


def instruction_changes(old_result, new_result, floor=0.02):
    """(core case, new by old) where the count of instructions moved: no noise touches it."""
    old, new = old_result.get("instructions", {}), new_result.get("instructions", {})
    if old_result.get("compiler") != new_result.get("compiler"):
        return []
    return [(name, new[name] / count) for name, count in old.items()
            if name in new and abs(new[name] / count - 1) > floor]
