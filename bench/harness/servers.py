"""Servers under load: the server on one core, what loads it on the other. The figure is the server's CPU time."""

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import time

from harness import machine
from harness.build import tool
from harness.rows import OURS

PATIENCE = 30  # seconds after which anything counts as hanging
SPARE_DESCRIPTORS = 50  # of a server or its load, beside the connections


def cpu_seconds(process):
    """CPU time of another process, all its OS threads together (the clock of clock_getcpuclockid)."""
    return time.clock_gettime((~process << 3) | 2)


@contextlib.contextmanager
def running(command, core=machine.MEASURED, environment=None):
    """A server that prints its port first: (process, port)."""
    server = subprocess.Popen(machine.pinned(command, core), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env=dict(os.environ, **(environment or {})))
    try:
        ready, _, _ = select.select([server.stdout], [], [], PATIENCE)
        line = server.stdout.readline() if ready else ""
        if not line.strip():
            raise RuntimeError(f"{command[0]} did not come up")
        yield server, int(line.rsplit(":", 1)[-1])
    finally:
        server.kill()
        server.communicate()


class Echo:
    """Row F. Connections are the number behind the case's key."""

    MESSAGE_BYTES = 64

    def __init__(self, programs, quick):
        self.servers = programs.servers
        self.load = programs.bench / "load" / "echo_load"
        self.null_server = programs.bench / "load" / "null_server"
        self.milliseconds = 300 if quick else 700
        self.most_connections = machine.raise_descriptor_limit() - SPARE_DESCRIPTORS

    def peers(self, case):
        return list(self.servers) if int(case.key.rpartition("/")[2]) <= self.most_connections else []

    def loaded(self, command, connections, environment=None):
        with running(command, environment=environment) as (server, port):
            load = machine.pinned(
                [self.load, port, server.pid, connections, self.MESSAGE_BYTES, self.milliseconds], machine.OTHER)
            done = subprocess.run(load, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"echo_load: exit code {done.returncode}")
        return json.loads(done.stdout)

    def measure(self, case, peer):
        environment = {"BIDE_DRIVER": "epoll" if peer == "bide epoll" else "uring", "GOMAXPROCS": "1"}
        return self.loaded(self.servers[peer], case.key.rpartition("/")[2], environment)

    def ceiling(self):
        """Requests a second that the load makes of a server that costs nothing, with 64 connections."""
        return self.loaded([self.null_server], 64)["rate"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"nothing listens on port {port}")


@contextlib.contextmanager
def configured(command, port):
    """A server that is told its port: the process."""
    server = subprocess.Popen(machine.pinned(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield server
    finally:
        server.terminate()
        server.wait(PATIENCE)


class Http:
    """Row Q: a small file by keep-alive from 64 connections of wrk."""

    NGINX = """daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
}}
"""

    def __init__(self, build_dir, scratch, quick):
        self.ours = build_dir / "examples" / "http" / "bide-http"
        self.folder = scratch / "http"
        (self.folder / "files").mkdir(parents=True, exist_ok=True)
        (self.folder / "files" / "small.txt").write_text("x" * 612)
        self.seconds = 1 if quick else 2
        self.nginx = tool("nginx")

    def peers(self, case):
        if not tool("wrk"):
            return []
        return [OURS] + (["nginx"] if self.nginx else [])

    def loaded(self, server, port):
        began = cpu_seconds(server.pid)
        text = subprocess.run(
            machine.pinned([tool("wrk"), "-t1", "-c64", f"-d{self.seconds}s", f"http://127.0.0.1:{port}/small.txt"],
                           machine.OTHER), capture_output=True, text=True, timeout=PATIENCE).stdout
        used = cpu_seconds(server.pid) - began
        requests = re.search(r"(\d+) requests in", text)
        if not requests or "Non-2xx" in text or "Socket errors" in text:
            raise RuntimeError(f"wrk: {text[-500:]}")
        return {"figure": used * 1e9 / int(requests[1]), "rate": int(requests[1]) / self.seconds}

    def measure(self, case, peer):
        if peer == OURS:
            with running([self.ours, "--port", 0, "--root", self.folder / "files"]) as (server, port):
                return self.loaded(server, port)
        port = free_port()
        configuration = self.folder / "nginx.conf"
        configuration.write_text(self.NGINX.format(folder=self.folder, port=port))
        with configured([self.nginx, "-p", self.folder, "-c", configuration], port) as server:
            return self.loaded(server, port)


class Proxy:
    """Row R: messages of 16 KiB through a proxy to an echo server and back, from 64 connections; CPU a KiB, each way
    counted."""

    MESSAGE_BYTES = 16 * 1024
    HAPROXY = """global
  nbthread 1
  maxconn 1000
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen front
  bind 127.0.0.1:{port}
  server back 127.0.0.1:{back}
"""

    def __init__(self, build_dir, scratch, programs, quick):
        self.ours = build_dir / "examples" / "proxy" / "bide-proxy"
        self.configuration = scratch / "haproxy.cfg"
        self.back = programs.servers.get("raw epoll")
        self.load = programs.bench / "load" / "echo_load"
        self.milliseconds = 500 if quick else 1000
        self.haproxy = tool("haproxy")

    def peers(self, case):
        return [OURS] + (["haproxy"] if self.haproxy else [])

    def loaded(self, server, port):
        load = machine.pinned([self.load, port, server.pid, 64, self.MESSAGE_BYTES, self.milliseconds], machine.OTHER)
        done = subprocess.run(load, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"echo_load: exit code {done.returncode}")
        said = json.loads(done.stdout)
        return {"figure": said["figure"] / (2 * self.MESSAGE_BYTES / 1024), "busy": said["busy"]}

    def measure(self, case, peer):
        with running(self.back, machine.OTHER) as (_, back):
            if peer == OURS:
                with running([self.ours, "--listen", 0, "--to", f"127.0.0.1:{back}"]) as (server, port):
                    return self.loaded(server, port)
            port = free_port()
            self.configuration.write_text(self.HAPROXY.format(port=port, back=back))
            with configured([self.haproxy, "-f", self.configuration, "-db"], port) as server:
                return self.loaded(server, port)
