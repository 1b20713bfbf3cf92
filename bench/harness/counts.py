"""Instructions of the core's steps, counted by callgrind.

What an operation takes is the difference of runs of N and 2N operations, so that start and warm-up drop out.
"""

import concurrent.futures
import re
import subprocess

from harness import build, machine

OPERATIONS = 20_000


def collected(program, case, operations):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run", case, str(operations)],
        capture_output=True, text=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not match:
        raise RuntimeError(f"callgrind of {case} failed: {done.stderr[-500:]}")
    return int(match[1])


def per_operation(program, case):
    """In tenths: more digits would move with the layout of a table."""
    more, less = (collected(program, case, count) for count in (2 * OPERATIONS, OPERATIONS))
    return round((more - less) / OPERATIONS, 1)


def counted(build_dir):
    """{core case: instructions}; empty where valgrind is not there."""
    if not build.tool("valgrind"):
        return {}
    program = build_dir / "bench" / "core_report"
    names = build.run(program, "list").split()
    with concurrent.futures.ThreadPoolExecutor(len(machine.CORES)) as pool:
        return dict(zip(names, pool.map(lambda name: per_operation(program, name), names)))
