"""The figures as text: a table for the terminal, and the one of the README."""

from harness import figures
from harness.rows import LIMIT, OURS

LIMITS = (LIMIT, "raw uring", "raw epoll")


def number(value, unit):
    """A figure as a person reads it, three digits."""
    if unit == "ns" and value >= 10_000_000:
        return f"{value / 1e6:.0f} ms"
    if unit == "ns" and value >= 1000:
        return f"{value / 1000:.3g} us"
    if value >= 1000:
        return f"{value:,.0f} {unit}"
    return f"{value:.3g} {unit}"


def value_of(result, case, goal):
    """(our figure as a part of the goal, text); None where the peer is missing."""
    ours = case["peers"][OURS]["rounds"]
    if "at_most" in goal:
        bound = goal["at_most"]
        part = figures.median(ours) / bound if bound else 2.0 * (figures.median(ours) > 0)
        return part, f"at most {number(bound, case['unit'])}"
    against = goal["against"]
    if against.startswith("case:"):
        other = next((one for one in result["cases"] if one["key"] == against[5:]), None)
        if other is None:
            return None
        others, name = other["peers"][OURS]["rounds"], other["title"]
    elif against in case["peers"]:
        others, name = case["peers"][against]["rounds"], against
    else:
        return None
    ratio = figures.paired_ratio(ours, others)
    return ratio / goal["ratio"], f"{ratio:.2f}x {name}, goal {goal['ratio']:g}x"


def goals(result, case):
    """Of each goal that can be held against something: (met, text)."""
    told = []
    for goal in case["goals"]:
        if (found := value_of(result, case, goal)) is not None:
            told.append((found[0] <= 1, found[1]))
    return told


def limit_of(case):
    """The figures of the limit: the first of those by hand that was measured."""
    return next((case["peers"][name]["rounds"] for name in LIMITS if name in case["peers"]), None)


def lines_of(result, case):
    ours = case["peers"][OURS]["rounds"]
    limit = limit_of(case)
    for peer, said in case["peers"].items():
        rounds = said["rounds"]
        extra = []
        if "allocations" in said:
            extra.append(f"{round(figures.median(said['allocations']), 1):g} allocations")
        for name in ("p50", "p99", "p99.9"):
            if name in said:
                extra.append(f"{name} {figures.median(said[name]) / 1000:.0f} us")
        if "busy" in said:
            extra.append(f"server {100 * figures.median(said['busy']):.0f} % busy")
        yield {
            "peer": peer, "figure": number(figures.median(rounds), case["unit"]),
            "spread": f"±{100 * figures.spread(rounds):.0f} %",
            "to_ours": "" if peer == OURS else f"{figures.paired_ratio(rounds, ours) or 0:.2f}",
            "to_limit": f"{figures.paired_ratio(rounds, limit) or 0:.2f}" if limit and peer not in LIMITS else "",
            "extra": ", ".join(extra),
        }


def verdict(result, case):
    return "; ".join(("met: " if met else "MISSED: ") + text for met, text in goals(result, case))


def heading(result):
    return [
        f"{result['machine']}; {result['compiler']}, release build; commit {result['commit']}; {result['date']}",
        f"{result['command']}",
    ]


def for_terminal(result):
    lines = heading(result)
    lines.append(f"{'':2}{'':14}{'figure':>12}{'spread':>8}{'x ours':>8}{'x limit':>8}")
    for case in result["cases"]:
        if not case["in_table"]:
            continue
        lines.append(f"{case['row']} {case['title']}")
        for line in lines_of(result, case):
            lines.append(f"{'':2}{line['peer']:14}{line['figure']:>12}{line['spread']:>8}{line['to_ours']:>8}"
                         f"{line['to_limit']:>8}  {line['extra']}".rstrip())
        if told := verdict(result, case):
            lines.append(f"{'':4}{told}")
    held = [met for case in result["cases"] if case["in_table"] for met, _ in goals(result, case)]
    lines.append(f"goals met: {sum(held)} of {len(held)}")
    if "load_ceiling" in result:
        lines.append(f"the echo's load reaches {result['load_ceiling']:,.0f} requests a second against a server that "
                     "costs nothing")
    for peer, why in result["missing"].items():
        lines.append(f"left out: {peer}: {why}")
    lines.append("schedule digests: " + " ".join(f"{name} {text[:8]}" for name, text in result["digests"].items()))
    return "\n".join(lines)


def for_readme(result):
    """Ours, the limit, and the best peer of each row; what was missed is said in words."""
    lines = ["| what | bide | by hand | peers |", "|---|---:|---:|---|"]
    missed = []
    for case in result["cases"]:
        if not case["in_table"]:
            continue
        unit = case["unit"]
        limit = limit_of(case)
        others = {peer: figures.median(said["rounds"]) for peer, said in case["peers"].items()
                  if peer not in (OURS, *LIMITS)}
        peers = ", ".join(f"{peer} {number(value, unit)}" for peer, value in
                          sorted(others.items(), key=lambda item: item[1]))
        lines.append(f"| {case['title']} | {number(figures.median(case['peers'][OURS]['rounds']), unit)} | "
                     f"{number(figures.median(limit), unit) if limit else ''} | {peers} |")
        missed += [f"{case['title']} ({text})" for met, text in goals(result, case) if not met]
    lines += ["", f"Machine: {result['machine']}. Compiler: {result['compiler']}. Command: `{result['command']}`. "
              f"Date: {result['date'][:10]}."]
    if missed:
        lines += ["", "Behind what we want: " + "; ".join(missed) + "."]
    return "\n".join(lines)
