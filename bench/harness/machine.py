"""Where a run was made, and on which cores."""

import datetime
import os
import pathlib
import platform
import re
import resource
import subprocess

# The last core is measured: the first serves most interrupts. What loads a server, and this program, has the first.
CORES = sorted(os.sched_getaffinity(0))
MEASURED, OTHER = CORES[-1], CORES[0]


def raise_descriptor_limit():
    """As many connections as the machine allows: the limit, which processes started from here inherit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def pinned(command, core=MEASURED):
    return ["taskset", "-c", str(core), *map(str, command)]


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.splitlines()[0] if done.stdout else ""


def processor():
    match = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else platform.machine()


def compiler():
    return first_line(os.environ.get("CXX", "g++").split()[-1], "--version")


def facts(root, command):
    """What a figure means nothing without."""
    changed = subprocess.run(["git", "-C", root, "status", "--porcelain"], capture_output=True, text=True)
    return {
        "machine": f"{processor()}, {len(CORES)} cores, Linux {platform.release()}",
        "load_before": os.getloadavg()[0],
        "compiler": compiler(),
        "commit": first_line("git", "-C", str(root), "rev-parse", "--short", "HEAD") + ("+" if changed.stdout else ""),
        "command": command,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
    }
