"""Whole programs beside the tool that a user would pick instead: rows K, S, T and U."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from harness import build, machine
from harness.rows import OURS

MIB = 1024 * 1024

HELLO = {
    OURS: """
#include <cstdio>
#include <bide/executor/executor.hpp>
bide::Task<> hello() { co_await bide::Sleep(std::chrono::milliseconds(1)); std::puts("hello"); }
int main() { bide::Executor executor; executor.submit(hello()); executor.run(); }
""",
    "asio": """
#include <cstdio>
#include <asio.hpp>
asio::awaitable<void> hello() {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(1));
  co_await timer.async_wait(asio::use_awaitable);
  std::puts("hello");
}
int main() { asio::io_context context; asio::co_spawn(context, hello(), asio::detached); context.run(); }
""",
}


def used_by(command):
    """CPU seconds and wall seconds of a program."""
    began = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    errors = process.stderr.read().decode()
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        raise RuntimeError(f"{command[0]}: {errors[-500:]}")
    return usage.ru_utime + usage.ru_stime, wall


class Replay:
    """Row K: jobs that come about as fast as 128 workers do them, drawn from a fixed sequence."""

    WORKERS = 128

    def __init__(self, build_dir, scratch):
        self.program = build_dir / "examples" / "jobs" / "bide-jobs"
        self.scratch = scratch

    def peers(self, case):
        return [OURS] if self.program.exists() else []

    def workload(self, count):
        path = self.scratch / f"jobs-{count}.csv"
        if path.exists():
            return path
        state = 1
        with path.open("w") as file:
            file.write("name,submit,duration,priority\n")
            for job in range(count):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                seconds = 1 + (state >> 40) % 2400  # 1,200 on average: a job each 10 s would keep 120 workers busy
                file.write(f"j{job},{job * 10},{seconds},{('low', 'normal', 'high', 'critical')[(state >> 33) % 4]}\n")
        return path

    def measure(self, case, peer):
        count = int(case.key.rpartition("/")[2])
        seconds, _ = used_by(machine.pinned(
            [self.program, "--workers", self.WORKERS, "--capacity", 100_000, self.workload(count)]))
        return {"figure": seconds * 1e9 / count}


class Copy:
    """Row S: wall time, from page cache to page cache. Neither waits for a disk."""

    def __init__(self, build_dir, scratch):
        roomy = pathlib.Path("/dev/shm")
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=roomy if self.room(roomy) > 3000 * MIB else scratch))
        self.source = self.folder / "from"
        self.commands = {
            OURS: [build_dir / "examples" / "copy" / "bide-copy", "--no-sync", "--restart"],
            "cp": ["cp", "--reflink=never"],
        }

    @staticmethod
    def room(folder):
        return shutil.disk_usage(folder).free if folder.exists() else 0

    def peers(self, case):
        return list(self.commands)

    def measure(self, case, peer):
        if not self.source.exists():
            piece = bytes(range(256)) * 4096
            with self.source.open("wb") as file:
                for _ in range(1024):
                    file.write(piece)
        target = self.folder / "to"
        target.unlink(missing_ok=True)
        _, wall = used_by(machine.pinned([*self.commands[peer], self.source, target]))
        if target.stat().st_size != self.source.stat().st_size:
            raise RuntimeError(f"{peer} did not copy it all")
        return {"figure": wall * 1e3}

    def close(self):
        shutil.rmtree(self.folder)


class Steady:
    """Row T, from a second run of each core case in a process that has run it before."""

    def __init__(self, build_dir):
        self.program = build_dir / "bench" / "core_report"

    def peers(self, case):
        return [OURS]

    def measure(self, case, peer):
        lines = build.run(*machine.pinned([self.program, "steady"])).splitlines()[1:]
        return {"figure": sum(int(line.split()[1]) for line in lines)}


class Compile:
    """Row U: CPU time of the compiler, and size of the program."""

    def __init__(self, build_dir, scratch):
        self.build_dir, self.scratch = build_dir, scratch
        self.compiler = os.environ.get("CXX", "g++").split()

    def peers(self, case):
        asio = pathlib.Path("/usr/include/asio.hpp").exists()
        return [OURS] + (["asio"] if asio else [])

    def measure(self, case, peer):
        source = self.scratch / f"hello_{peer}.cpp"
        source.write_text(HELLO[peer])
        program = self.scratch / f"hello_{peer}"
        command = [*self.compiler, "-std=c++20", f"-I{self.build_dir}/include", source, "-o", program]
        if case.key == "U_compile":
            seconds, _ = used_by(machine.pinned([*command, "-O0", "-c"]))
            return {"figure": seconds * 1e3}
        libraries = [self.build_dir / "libbide.a", "-luring"] if peer == OURS else []
        build.run(*command, "-O2", "-s", *libraries, "-pthread")
        return {"figure": program.stat().st_size}
