"""Set-up: packages, and programs of each peer in a release build."""

import os
import pathlib
import shutil
import subprocess
import sys

from harness.rows import OURS

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = [f"examples/{name}/bide-{name}" for name in ("jobs", "http", "proxy", "copy")]
FOLDERS = {"asio uring": "asio", "raw uring": "raw", "raw epoll": "raw", "tokio": "tokio/release"}
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


def tool(name):
    """A program that may lie where only root looks; None without it."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def configure(build_dir):
    build_dir.mkdir(parents=True, exist_ok=True)
    run(ROOT / ".ci" / "configure", build_dir, "-Dbuildtype=release", "-Dtests=disabled", "-Dexamples=enabled",
        "-Dbench=enabled")


def build():
    """Builds all that can be built with what is installed."""
    build_dir = build_directory()
    configure(build_dir)
    run("ninja", "-C", build_dir, "bench-programs", *EXAMPLES)


def built_by(compiler, folder, build_dir):
    """Programs of another language, built in the build directory: None, or why there are none."""
    source = ROOT / "bench" / "peers" / folder
    target = build_dir / "bench" / "peers" / folder
    if not shutil.which(compiler):
        return f"{compiler} is not installed"
    try:
        if compiler == "go":
            environment = dict(os.environ, GOPROXY="off", GOFLAGS="-mod=mod")
            run("go", "build", "-o", target / "go_bench", ".", cwd=source, env=environment)
            run("go", "build", "-o", target / "go_echo", "./echo", cwd=source, env=environment)
        else:
            shutil.copytree(source, target / "source", dirs_exist_ok=True)
            run("cargo", "build", "--release", "--offline", "--target-dir", target, cwd=target / "source")
    except RuntimeError as error:
        return f"it could not be built: {str(error)[-300:]}"
    return None


def digests(core_report):
    """Of each core case, that of its schedule."""
    return dict(line.split() for line in run(core_report, "digests").splitlines())


class Programs:
    """Where the programs of each peer are, and why some are not."""

    MICRO = ("asio", "asio uring", "boost fiber", "go", "libuv", "ns3", "tokio")
    SERVERS = (OURS, "bide epoll", "raw uring", "raw epoll", "asio", "asio uring", "go", "libuv", "tokio")

    def __init__(self, build_dir, built=False):
        self.bench = build_dir / "bench"
        self.missing = {}
        for peer, compiler in (("go", "go"), ("tokio", "cargo")):
            if not built and (why := built_by(compiler, peer, build_dir)):
                self.missing[peer] = why
        self.micro = {OURS: sorted(self.bench.glob("*_bench"))}
        self.micro |= {peer: [self.program(peer, "bench")] for peer in self.MICRO if self.there(peer, "bench")}
        self.servers = {peer: [self.program(peer, "echo")] for peer in self.SERVERS if self.there(peer, "echo")}
        for peer in self.MICRO:
            if peer not in self.micro:
                self.missing.setdefault(peer, "its Debian package is not installed")
        self.missing |= {name: "it is not installed" for name in ("nginx", "haproxy", "wrk") if not tool(name)}

    def there(self, peer, kind):
        return peer not in self.missing and self.program(peer, kind).exists()

    def program(self, peer, kind):
        name = "bide" if peer == "bide epoll" else peer.replace(" ", "_")
        folder = self.bench if name == "bide" else self.bench / "peers" / FOLDERS.get(peer, name)
        return folder / f"{name}_{kind}"
