"""Set-up: packages, and programs of each peer in a release build."""

import os
import pathlib
import shutil
import subprocess
import sys

from harness.rows import OURS

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = [f"examples/{name}/bide-{name}" for name in ("jobs", "http", "proxy", "copy")]
FOLDERS = {"asio uring": "asio", "raw uring": "raw", "raw epoll": "raw"}  # of peers that share one
RESULTS = ROOT / ".build" / "bench-results"


def build_directory():
    return pathlib.Path(os.environ.get("BIDE_BUILD_DIR", ROOT / ".build" / "bench"))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def packages():
    """What the benchmarks need must be there; without peers there are fewer columns."""
    subprocess.run([ROOT / ".ci" / "packages", "examples", "bench"], check=True)
    if subprocess.run([ROOT / ".ci" / "packages", "peers"]).returncode != 0:
        print("bench: some peers are missing, and are left out", file=sys.stderr)


def build():
    """Builds what can be built, and returns the build directory."""
    build_dir = build_directory()
    build_dir.mkdir(parents=True, exist_ok=True)
    run(ROOT / ".ci" / "configure", build_dir, "-Dbuildtype=release", "-Dtests=disabled", "-Dexamples=enabled",
        "-Dbench=enabled")
    run("ninja", "-C", build_dir, "bench-programs", *EXAMPLES)
    return build_dir


class Programs:
    """Where the programs of each peer are, and why some are not."""

    def __init__(self, build_dir):
        self.bench = build_dir / "bench"
        self.missing = {}
        self.micro = {OURS: sorted(self.bench.glob("*_bench"))}
        self.servers = {}
        for peer in ("asio", "asio uring", "libuv", "boost fiber"):
            program = self.peer_program(peer, "bench")
            if program.exists():
                self.micro[peer] = [program]
        for peer in (OURS, "bide epoll", "raw uring", "raw epoll", "asio", "asio uring", "libuv"):
            program = self.peer_program(peer, "echo")
            if program.exists():
                self.servers[peer] = [program]
        for peer, found in (("asio", "asio"), ("libuv", "libuv"), ("boost fiber", "boost fiber")):
            if not any(name.startswith(found) for name in [*self.micro, *self.servers]):
                self.missing[peer] = "its Debian package is not installed"

    def peer_program(self, peer, kind):
        name = peer.replace(" ", "_")
        folder = self.bench if peer in (OURS, "bide epoll") else self.bench / "peers" / FOLDERS.get(peer, name)
        return folder / f"{name}_{kind}"
