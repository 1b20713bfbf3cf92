"""Runs bide's programs as processes, and counts what they get right."""

import contextlib
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import time

DRIVERS = ("uring", "epoll")
PATIENCE = 20  # seconds after which anything counts as hanging


class Server:
    """A program that prints `NAME: ready on ADDRESS` and serves until it gets a signal."""

    def __init__(self, command, driver, limit_descriptors=None):
        def prepare():
            if limit_descriptors:
                import resource

                resource.setrlimit(resource.RLIMIT_NOFILE, (limit_descriptors, limit_descriptors))

        environment = dict(os.environ, BIDE_DRIVER=driver)
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            preexec_fn=prepare)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline().decode() if ready else ""
        match = re.search(r"ready on (.*):(\d+)$", line.strip())
        if not match:
            self.process.kill()
            raise AssertionError(f"not ready: {line!r} {self.process.stderr.read()!r}")
        self.address = (match.group(1).strip("[]"), int(match.group(2)))
        self.port = self.address[1]

    def connect(self, timeout=PATIENCE):
        return socket.create_connection(self.address, timeout=timeout)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, with_signal=signal.SIGTERM):
        """Returns the exit code and how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(with_signal)
        try:
            _, self.errors = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError("it does not end") from None
        return self.process.returncode, time.monotonic() - began


@contextlib.contextmanager
def serving(command, driver, **options):
    server = Server(command, driver, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


def receive_all(connection):
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def eventually(holds, seconds=PATIENCE):
    """Whether it comes to hold: what a peer does shows a moment later here."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return holds()


def run_checks(checks, drivers=DRIVERS):
    """Runs each function with each driver, tells what failed, and ends with `N passed, N failed`."""
    passed = failed = 0
    for driver in drivers:
        for check in checks:
            try:
                check(driver)
                passed += 1
            except Exception as error:  # a check may fail in any way
                failed += 1
                line = error.__traceback__
                while line.tb_next:
                    line = line.tb_next
                print(f"{check.__name__} ({driver}): {type(error).__name__}: {error} at line {line.tb_lineno}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def refuses(command, *texts):
    """It ends with exit code 2, and says the texts on stderr."""
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=PATIENCE, check=False)
    said = done.stderr.decode()
    assert done.returncode == 2, f"exit code {done.returncode}, {said!r}"
    for text in texts:
        assert text in said, f"{text!r} is not in {said!r}"
