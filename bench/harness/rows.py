"""What is measured: the rows of the table with their goals, and the curves.

A case is known by its key, the name of its Google Benchmark case, which every peer gives its own version of it. What is
measured of it is CPU time an operation unless `figure` names something else.
"""

import dataclasses

OURS = "bide"
LIMIT = "by hand"


@dataclasses.dataclass(frozen=True)
class Goal:
    """Ours is at most `ratio` times the figure of `against`: a peer, or `case:KEY` for another case of ours. With
    `at_most` it is at most that figure."""

    against: str = ""
    ratio: float = 0.0
    at_most: float | None = None

    def as_json(self):
        if self.at_most is not None:
            return {"at_most": self.at_most}
        return {"against": self.against, "ratio": self.ratio}


@dataclasses.dataclass(frozen=True)
class Case:
    row: str
    key: str
    title: str
    goals: tuple = ()
    unit: str = "ns"
    figure: str = "cpu_time"
    source: str = "micro"
    heavy: bool = False  # takes seconds: one repetition a round, few rounds, left out by --quick
    quick: bool = True
    curve: str = ""  # belongs to the curve of this name, at `size`
    size: int = 0
    in_table: bool = True

    def samples(self, peer, quick):
        """How many processes measure it a round. Where one's memory lies moves its figure by a tenth, and `compare` looks
        for less."""
        if self.source != "micro" or self.heavy or self.figure != "cpu_time" or not self.in_table:
            return 1
        return (8 if quick else 12) if peer in (OURS, LIMIT) else 1


def at_most(value):
    return Goal(at_most=value)


def times(ratio, against):
    return Goal(against=against, ratio=ratio)


CASES = [
    Case("A", "A_yield/1", "yield, one thread", (times(1.5, LIMIT),)),
    Case("A", "A_yield/1000", "yield, 1,000 threads of four classes", (times(1.5, LIMIT), times(0.2, "asio"))),
    Case("A", "A_yield/100000", "yield, 100,000 threads", (times(0.2, "asio"),), heavy=True),
    Case("B", "B_await_child", "await a child that returns a value", (times(1.5, LIMIT), times(0.4, "asio"))),
    Case("B", "B_submit_detached", "submit a detached thread and run it", (times(0.1, "asio"),)),
    Case("B", "B_submit_join", "submit a thread and join it", (at_most(20),)),
    Case("C", "C_post/1000", "post a function and run it", (times(0.3, "asio"),)),
    Case("C", "C_post_4_classes", "post a function and run it, four classes", (times(0.15, "asio"),)),
    Case("C", "C_post_outside/1000", "post from outside the loop"),
    Case("D", "D_virtual_sleep/1000", "sleep in virtual time, 1,000 sleepers", (at_most(65),)),
    Case("D", "D_virtual_sleep/100000", "sleep in virtual time, 100,000 sleepers", (at_most(320),), heavy=True),
    Case("D", "D_virtual_sleep/1000000", "sleep in virtual time, 1,000,000 sleepers", (at_most(850),), heavy=True),
    Case("D", "D_arm_cancel/1000", "arm and cancel a timer beside 1,000", (at_most(30), times(0.3, "asio"))),
    Case("D", "D_arm_cancel/1000000", "arm and cancel a timer beside 1,000,000",
         (at_most(40), times(0.2, "asio")), heavy=True),
    Case("D", "D_real_sleep_1e6", "1,000,000 sleeps in real time, each fired",
         (times(0.5, "go"), times(0.12, "asio")), heavy=True),
    Case("D", "D_real_lateness", "lateness of a sleep in real time, 99 %", unit="us", figure="p99_us", quick=False),
    Case("E", "E_event_hand_off", "hand-off by an event", (at_most(10),)),
    Case("E", "E_channel_0", "hand-off by a channel without room", (at_most(20),)),
    Case("E", "E_channel_1024", "an item through a channel of 1,024", (at_most(10), times(0.25, "go"))),
    Case("F", "F_echo/1", "echo of 64 bytes, 1 connection: server's CPU", (times(1.06, "raw uring"),),
         source="echo", quick=False),
    Case("F", "F_echo/64", "echo of 64 bytes, 64 connections: server's CPU",
         (times(1.08, "raw uring"), times(0.62, "asio"), times(0.70, "raw epoll")), source="echo"),
    Case("F", "F_echo/1000", "echo of 64 bytes, 1,000 connections: server's CPU",
         (times(1.12, "raw uring"), times(0.55, "asio")), source="echo", quick=False),
    Case("G", "G_poll/1", "an operation that is done at once, 1 in flight", (times(1.05, LIMIT),)),
    Case("G", "G_poll/32", "an operation that is done at once, 32 in flight", (times(1.15, LIMIT),)),
    Case("G", "G_poll/256", "an operation that is done at once, 256 in flight", (times(1.25, LIMIT),)),
    Case("H", "H_read/1", "4 KiB from the page cache, 1 in flight", (times(1.1, LIMIT),)),
    Case("H", "H_read/32", "4 KiB from the page cache, 32 in flight", (times(1.1, LIMIT), times(0.35, "asio uring"))),
    Case("I", "I_bytes_per_sleeping_thread", "resident memory of a sleeping thread",
         (at_most(192), times(0.2, "asio")), unit="bytes", figure="bytes", heavy=True),
    Case("I", "I_idle_connection_receive", "the heap's part of an idle connection", unit="bytes", figure="bytes",
         heavy=True),
    Case("J", "J_job_decisions/4/manual_time", "choose, complete and submit a job, 100,000 queued", (at_most(200),),
         figure="nanoseconds", heavy=True),
    Case("K", "K_replay/10000", "replay of 10,000 jobs by bide-jobs, a job", (at_most(2742),), source="replay"),
    Case("K", "K_replay/100000", "replay of 100,000 jobs, a job", (times(1.2, "case:K_replay/10000"),), source="replay",
         quick=False),
    Case("K", "K_replay/1000000", "replay of 1,000,000 jobs, a job", (times(1.2, "case:K_replay/10000"),),
         source="replay", heavy=True),
    Case("L", "L_timeout_not_fired", "timeout around a child that ends at once", (times(2.5, "case:L_bare_await"),)),
    Case("L", "L_bare_await", "a child that ends at once, without a timeout"),
    Case("L", "L_group_100_children", "group of 100, a child", (times(1.3, "case:L_submit_join_100"),)),
    Case("L", "L_submit_join_100", "100 submitted and joined without a group, a thread"),
    Case("M", "M_events_with_digest/1000", "simulated event with the digest on, 1,000 pending",
         (times(0.71, "ns3"),)),
    Case("M", "M_events_with_digest/100000", "simulated event with the digest on, 100,000 pending",
         (times(0.71, "ns3"),), heavy=True),
    Case("O", "O_empty_run", "an empty simulation from start to end", (at_most(20_000),)),
    Case("Q", "Q_http", "HTTP keep-alive, small file, 64 connections: server's CPU", (times(0.9, "nginx"),),
         source="http"),
    Case("R", "R_proxy", "TCP proxy, 64 connections: its CPU a KiB", (times(1.0, "haproxy"),), source="proxy"),
    Case("S", "S_copy", "copy of a file in the page cache: wall time", (times(1.1, "cp"),), unit="ms",
         source="copy", quick=False),
    Case("T", "T_page_faults", "page faults of all core cases after warm-up", (at_most(0),), unit="faults",
         source="steady"),
    Case("U", "U_compile", "compile a first program, g++ -O0", (at_most(1000),), unit="ms", source="compile",
         quick=False),
    Case("U", "U_binary", "the program, -O2, stripped", (at_most(300 * 1024),), unit="bytes", source="compile",
         quick=False),
]

# What grows from 10 to 1,000,000: (key before the size, title, x axis, source, largest).
CURVES = [
    ("A_yield", "yield", "threads", "micro", 1_000_000),
    ("D_virtual_sleep", "sleep in virtual time", "sleepers", "micro", 1_000_000),
    ("D_arm_cancel", "arm and cancel a timer", "timers beside it", "micro", 1_000_000),
    ("F_echo", "echo of 64 bytes, server's CPU", "connections", "echo", 10_000),
]


def curve_cases():
    """The points of the curves that no row of the table has."""
    listed = {case.key for case in CASES}
    for key, title, axis, source, largest in CURVES:
        size = 10
        while size <= largest:
            if f"{key}/{size}" not in listed:
                yield Case(key[0], f"{key}/{size}", f"{title}, {size:,} {axis}", source=source, heavy=True,
                           in_table=False, curve=key, size=size)
            size *= 10
