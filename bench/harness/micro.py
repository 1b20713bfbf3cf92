"""Cases of one process each: Google Benchmark programs, and programs of other languages that speak like them."""

import json
import subprocess

from harness import machine
from harness.rows import LIMIT, OURS

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def with_raw(key):
    """The key of the same case by hand: A_yield/1000, A_yield_raw/1000."""
    name, slash, size = key.partition("/")
    return f"{name}_raw{slash}{size}"


class Micro:
    name = "micro"

    def __init__(self, programs, quick):
        """`programs`: of each peer the list of its programs."""
        self.place = {}  # (peer, case) -> (program, the program's name of it)
        self.quick = quick
        for peer, paths in programs.items():
            for path in paths:
                for name in self.listed(path):
                    self.place.setdefault((peer, name), (path, name))

    @staticmethod
    def listed(path):
        done = subprocess.run([path, "--benchmark_list_tests"], capture_output=True, text=True, check=True)
        return [line.split("/iterations")[0] for line in done.stdout.splitlines()]

    def peers(self, case):
        if (OURS, case.key) not in self.place:
            return []
        peers = [OURS]
        if (OURS, with_raw(case.key)) in self.place:
            peers.append(LIMIT)
        return peers + sorted(peer for peer, key in self.place if key == case.key and peer != OURS)

    def measure(self, case, peer):
        """The least of a few short repetitions: what else the machine did in between drops out."""
        path, name = self.place[(OURS, with_raw(case.key))] if peer == LIMIT else self.place[(peer, case.key)]
        if case.heavy:
            repetitions, seconds = 1, 0.001
        elif case.samples(peer, self.quick) > 1:
            repetitions, seconds = 2, 0.005
        else:
            repetitions, seconds = (5, 0.01) if self.quick else (8, 0.02)
        command = machine.pinned([
            path, f"--benchmark_filter=^{name}(/iterations:.*)?$", "--benchmark_format=json",
            f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={seconds}"])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{path} {name}: exit code {done.returncode}: {done.stderr[-300:]}")
        runs = [run for run in json.loads(done.stdout)["benchmarks"] if run.get("run_type") != "aggregate"]
        if not runs:
            raise RuntimeError(f"{path} has no case {name}")
        if case.figure != "cpu_time":
            return {"figure": runs[-1][case.figure]}
        best = min(runs, key=lambda run: run["cpu_time"])
        result = {"figure": best["cpu_time"] * NANOSECONDS[best["time_unit"]]}
        if "allocations" in best:
            result["allocations"] = best["allocations"]
        return result
