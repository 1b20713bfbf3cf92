"""gdb: what the green threads of an executor are doing, in a live process or a core file.

    (gdb) source bide.py
    (gdb) bide threads              the executor that was running
    (gdb) bide threads &executor    the one that an expression names

Prints what Executor::dump() would, and runs no code of the process: it reads memory alone. Needs the debug
information of the program (README.md).
"""

import re

import gdb

MOST_LEVELS = 32  # as in executor/dump.cpp
MOST_AWAITS = 16  # as in executor/report.cpp
MOST_STEPS = 10_000_000  # along a chain: memory that was overwritten may lead in a circle


def text_at(pointer):
    """The C string, printable as in executor/report.cpp. None for a null pointer."""
    if int(pointer) == 0:
        return None
    text = pointer.cast(gdb.lookup_type("char").const().pointer()).string("utf-8", "backslashreplace")
    return printable(text)


def printable(text):
    return re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\x{ord(match.group()):02x}", text)


def line_of(location):
    """`file:line` of a std::source_location, which points to {file, function, line, column}."""
    implementation = location["_M_impl"]
    if int(implementation) == 0:
        return ":0"
    file = implementation.cast(gdb.lookup_type("char").const().pointer().pointer()).dereference()
    line = (gdb.Value(int(implementation) + 2 * file.type.sizeof)).cast(gdb.lookup_type("unsigned int").pointer())
    return f"{text_at(file)}:{int(line.dereference())}"


def time_of(instant):
    """`1.5 ms`, as to_string(Duration) has it."""
    count = int(instant["__d"]["__r"])
    magnitude = abs(count)
    units = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))
    name, unit = next((unit for unit in units if magnitude >= unit[1]), units[0])
    whole, rest = divmod(magnitude, unit)
    fraction = "." + str(unit + rest)[1:].rstrip("0") if rest else ""
    return f"{'-' if count < 0 else ''}{whole}{fraction} {name}"


def enumerator(value):
    return str(value).split("::")[-1]


def plural(count, word):
    return f"{count} {word}{'' if count == 1 else 's'}"


def named(kind, owner):
    name = text_at(owner["name_"])
    return kind if name is None else f'{kind} "{name}"'


# --- what a wait waits for: Wait::describe() of each class, by its name ------------------------------------------


def mutex(wait):
    mutex = wait["mutex_"]
    holder = mutex["owner_"]["holder_"]
    return named("mutex", mutex) + (f" held by thread {int(holder['id'])}" if int(holder) else "")


def taken_at(wait):
    """Wait::taken_at(), as to_string(ThreadReport) shows it."""
    if bool(wait["gone_"]) or class_of(wait) != "bide::Mutex::Lock":
        return ""
    mutex = cast_down(wait, "bide::Mutex::Lock")["mutex_"]
    return f" (locked at {line_of(mutex['locked_at_'])})" if int(mutex["owner_"]["holder_"]) else ""


def shared_mutex(wait):
    mutex = wait["mutex_"]
    name = named("shared mutex", mutex)
    if int(mutex["writer_"]["holder_"]) == 0 and enumerator(wait["mode_"]) == "shared":
        first = first_of(mutex["waiters_"])
        if first is not None and int(first["thread_"]) != int(wait["thread_"]):
            return f"{name} behind thread {int(first['thread_']['id'])}"
    holds, hold = [], mutex["first_hold_"]
    while int(hold) and len(holds) < MOST_STEPS:
        holds.append(int(hold["thread"]["id"]))
        hold = hold["next"]
    if not holds:
        return name
    if int(mutex["writer_"]["holder_"]):
        return f"{name} written by thread {holds[0]}"
    return f"{name} read by thread {holds[0]}" + (f" and {len(holds) - 1} more" if len(holds) > 1 else "")


def first_of(queue):
    lists = queue["lists_"]["_M_elems"]
    for of_class in range(lists.type.strip_typedefs().range()[1], -1, -1):
        if int(lists[of_class]["first"]):
            return lists[of_class]["first"].dereference()
    return None


def channel(wait):
    channel = wait["channel_"]
    name = named("channel", channel)
    if enumerator(wait["does_"]) == "receive":
        return f"an item on {name}"
    return ("room in " if int(channel["capacity_"]) else "a receiver on ") + name


def semaphore(wait):
    semaphore = wait["semaphore_"]
    permits = plural(int(wait["permits_"]), "permit")
    return f"{permits} of {named('semaphore', semaphore)}, which has {int(semaphore['value_'])}"


def latch(wait):
    return f"{named('latch', wait['latch_'])} with {int(wait['latch_']['count_'])} to go"


def barrier(wait):
    barrier = wait["barrier_"]
    missing = int(barrier["size_"]) - int(barrier["waiters_"]["size_"])
    return f"{plural(missing, 'thread')} to arrive at {named('barrier', barrier)}"


def rate_limiter(wait):
    return f"{plural(int(wait['tokens_']), 'token')} of {named('rate limiter', wait['limiter_'])}"


def join(wait):
    target = wait["target_"]
    if int(target) == 0:
        return "a thread whose Handle is gone"
    if int(target["thread"]) == 0:
        return "a thread that has ended"
    return f"thread {int(target['thread']['id'])} to end"


def group(wait):
    return f"{plural(int(wait['group_']['size_']), 'thread')} of a group to end"


def select(wait):
    arms = [wait_text(wait["arms_"][arm].dereference()) for arm in range(int(wait["count_"]))]
    return "the first of: " + ", ".join(arms)


# The class of a wait, the base class of it that has what is needed, and who words it.
DESCRIPTIONS = (
    (r"bide::Mutex::Lock", "bide::Mutex::Lock", mutex),
    (r"bide::SharedMutex::Lock", "bide::SharedMutex::Lock", shared_mutex),
    (r"bide::Channel<.*>::(Receive|Send<.*>)", "bide::ChannelBase::Side", channel),
    (r"bide::Semaphore::Acquire", "bide::Semaphore::Acquire", semaphore),
    (r"bide::Event::Wait", "bide::Event::Wait", lambda wait: named("event", wait["event_"])),
    (r"bide::ConditionVariable::Notice", "bide::ConditionVariable::Notice",
     lambda wait: named("condition variable", wait["variable_"])),
    (r"bide::Latch::Wait", "bide::Latch::Wait", latch),
    (r"bide::Barrier::Arrival", "bide::Barrier::Arrival", barrier),
    (r"bide::RateLimiter::Acquire", "bide::RateLimiter::Acquire", rate_limiter),
    (r"bide::Join<.*>", "bide::JoinWait", join),
    (r"bide::GroupWait", "bide::GroupWait", group),
    (r"bide::Select<.*>", "bide::SelectWait", select),
    (r"bide::SelectSleep", "bide::SelectSleep", lambda wait: f"the instant {time_of(wait['due_'])}"),
)  # fmt: skip


def cast_down(wait, name):
    """The object of the named class that this bide::Wait is the base of. gdb's own casts look at vtables, and trip
    over those that a linker has merged."""
    derived = gdb.lookup_type(name)
    address = int(wait.address) - offset_of_base(derived, "bide::Wait")
    return gdb.Value(address).cast(derived.pointer()).dereference()


def offset_of_base(derived, name):
    if derived.strip_typedefs().name == name:
        return 0
    for field in derived.fields():
        if field.is_base_class:
            inside = offset_of_base(field.type, name)
            if inside is not None:
                return field.bitpos // 8 + inside
    return None


def class_of(wait):
    """The name of the wait's class, from the symbol that its first word points into: its vtable."""
    vtable = int(wait.address.cast(gdb.lookup_type("unsigned long").pointer()).dereference())
    symbol = gdb.execute(f"info symbol {vtable:#x}", to_string=True)
    match = re.match(r"vtable for (.*) \+ \d+", symbol)
    return match.group(1) if match else None


def wait_text(wait):
    """Words that continue "waits for ". Of a class that is not bide's, its name: its own words are code."""
    if bool(wait["gone_"]):
        return "something that was destroyed"
    name = class_of(wait)
    for pattern, base, describe in DESCRIPTIONS:
        if name is not None and re.fullmatch(pattern, name):
            try:
                return describe(cast_down(wait, base))
            except (RuntimeError, TypeError):  # no debug information of the class
                break
    return f"a {name}" if name else "something unknown"


# --- threads ----------------------------------------------------------------------------------------------------


class Thread:
    """One green thread: `line` is what to_string(ThreadReport) gives, `owner` the id of the thread whose group it
    belongs to, or 0."""

    def __init__(self, thread):
        self.id = int(thread["id"])
        self.owner = 0
        try:
            self.line = self.describe(thread)
            self.owner = owner_of(thread)
        except RuntimeError as error:
            self.line = f"thread {self.id} can't be read: {error}"

    def describe(self, thread):
        name = text_at(thread["name"])
        text = f"thread {self.id}" + (f' "{name}"' if name else "")
        text += f" ({enumerator(thread['own_priority'])}"
        if thread["rank"] != thread["own_priority"]:
            text += f", runs as {enumerator(thread['rank'])}"
        if int(thread["cancelled"]) or int(thread["cancel_requested"]):
            text += ", cancelled"
        root = root_of(thread)
        submitted_at = line_of(root["where"])
        text += ") " + self.state(thread, submitted_at)
        awaits = self.awaits(thread, root)
        text += "".join(f", awaited at {line}" for line in awaits[:MOST_AWAITS])
        if len(awaits) > MOST_AWAITS:
            text += f", and by {len(awaits) - MOST_AWAITS} more"
        return f"{text}; submitted at {submitted_at}"

    def state(self, thread, submitted_at):
        state = enumerator(thread["state"])
        # A thread that is not in the run queue has its wait in place of a sequence number.
        if state == "sleeping":
            sleep = gdb.Value(int(thread["sequence"])).cast(gdb.lookup_type("bide::SleepUntil").pointer())
            line, text = line_of(sleep["where_"]), f"sleeps until {time_of(due(thread))}"
            since = f" since {time_of(sleep['time_'])}"
        elif state == "waiting":
            wait = gdb.Value(int(thread["sequence"])).cast(gdb.lookup_type("bide::Wait").pointer()).dereference()
            line, text = line_of(wait["where_"]), f"waits for {wait_text(wait)}{taken_at(wait)}"
            since = f" since {time_of(wait['since_'])}"
        else:
            return f"is {state}" if state in ("ready", "running") else "has ended"
        return text + (f" at {line}" if line != submitted_at else "") + since

    def awaits(self, thread, root):
        lines, frame = [], thread["leaf"]
        while int(frame) != int(root.address) and len(lines) < MOST_STEPS:
            lines.append(line_of(frame["where"]))
            frame = frame["result"]["awaiting"]
        return lines


def due(thread):
    """TimerList::due of a sleeper."""
    entries = thread["executor"].dereference()["timers_"]["entries_"]
    return entries["_M_impl"]["_M_start"][int(thread["slot_"])]["at"]


def root_of(thread):
    """The root frame: the thread's record lies inside it."""
    frame = gdb.lookup_type("bide::Frame")
    offset = next(field.bitpos // 8 for field in frame.fields() if field.name == "thread_record")
    return gdb.Value(int(thread.address) - offset).cast(frame.pointer()).dereference()


def owner_of(thread):
    scope, steps = thread["scope"], 0
    if int(scope) == 0:
        return 0
    while int(scope["outer_"]) and steps < MOST_STEPS:
        scope, steps = scope["outer_"], steps + 1
    if not bool(scope["member_"]):
        return 0
    # A GroupScope::Member: a CancelScope, then the group. Its class is known inside of bide alone.
    behind = gdb.Value(int(scope) + gdb.lookup_type("bide::CancelScope").sizeof)
    group = behind.cast(gdb.lookup_type("bide::GroupScope").pointer().pointer()).dereference()
    return int(group["thread_"]["id"]) if int(group) and int(group["thread_"]) else 0


def tree(threads):
    """to_tree of executor/dump.cpp."""
    children = {thread.id: [] for thread in threads}
    to_do = []
    for thread in reversed(threads):
        if thread.owner in children:
            children[thread.owner].append(thread)
        else:
            to_do.append((thread, 1))
    while to_do:
        thread, depth = to_do.pop()
        under = f"; under thread {thread.owner}" if depth > MOST_LEVELS else ""
        yield "  " * min(depth, MOST_LEVELS) + thread.line + under
        to_do.extend((child, depth + 1) for child in children[thread.id])


# --- the command ------------------------------------------------------------------------------------------------


def executor_of_this_thread():
    """The executor whose run is on the stack of the selected thread, or None."""
    try:
        executor = gdb.parse_and_eval("bide::running.executor")
        return executor.dereference() if int(executor) else None
    except gdb.error:  # no thread-local storage to be had: a static program, or no libthread_db
        pass
    frame = gdb.newest_frame()
    while frame is not None:
        if (frame.name() or "").startswith("bide::Executor::"):
            try:
                return frame.read_var("this").dereference()
            except (gdb.error, ValueError):
                pass
        frame = frame.older()
    return None


def find_executor():
    selected = gdb.selected_thread()
    if selected is None:
        raise gdb.GdbError("There is no process and no core file.")
    others = [thread for thread in gdb.selected_inferior().threads() if thread.num != selected.num]
    try:
        for thread in [selected] + sorted(others, key=lambda thread: thread.num):
            thread.switch()
            executor = executor_of_this_thread()
            if executor is not None:
                return executor
    finally:
        selected.switch()
    raise gdb.GdbError("No executor is running here. Name one: bide threads EXPRESSION")


def dump(expression):
    """The lines of Executor::dump()."""
    executor = gdb.parse_and_eval(expression) if expression else find_executor()
    if executor.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        executor = executor.referenced_value()
    table = executor["threads_"]
    threads = [table["slots_"][place].dereference() for place in range(int(table["size_"]))]
    threads = sorted((Thread(thread) for thread in threads), key=lambda thread: thread.id)
    counts = [(len(threads), "thread"), (int(executor["resumes_"]), "resume"), (int(executor["ticks_"]), "tick")]
    yield f"executor at {time_of(executor['now_'])}: {', '.join(plural(*count) for count in counts)}"
    yield from tree(threads)


def quietly(function):
    """Calls it without gdb's warnings, of which each object with virtual functions sets one off."""
    global bide_call
    outcome = {}

    def bide_call():
        try:
            outcome["result"] = function()
        except Exception as error:
            outcome["error"] = error

    gdb.execute("python bide_call()", to_string=True)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


class BidePrefix(gdb.Command):
    """Commands for bide, the library of green threads."""

    def __init__(self):
        super().__init__("bide", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class BideThreads(gdb.Command):
    """All green threads of an executor: what each waits for, since when, at which line, and who awaits that.

    bide threads [EXPRESSION]

    EXPRESSION is an Executor, or a pointer to one. Without it: the one that the selected thread of the process is
    running, else another's. Reads memory alone: for core files too."""

    def __init__(self):
        super().__init__("bide threads", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        try:
            lines = quietly(lambda: list(dump(argument)))
        except gdb.error as error:
            raise gdb.GdbError(str(error))
        for line in lines:
            gdb.write(line + "\n")


BidePrefix()
BideThreads()
