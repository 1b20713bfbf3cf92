"""The figures as one page that needs nothing else: no script, no network."""

import html

from harness import figures, plots, table
from harness.rows import CURVES, OURS

ROWS = {
    "A": "Yield", "B": "Await, submit, join", "C": "Post", "D": "Timers", "E": "Hand-off", "F": "Echo",
    "G": "Operations", "H": "File reads", "I": "Memory", "J": "Job decisions", "K": "Replay of jobs",
    "L": "Timeouts and groups", "M": "Simulated events", "O": "An empty simulation", "Q": "HTTP", "R": "TCP proxy",
    "S": "File copy", "T": "First touch", "U": "Build",
}

STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --faint: #ddd; --limit: #555; --peer: #e69f00;
  --ours: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #161616; --faint: #3a3a3a; --limit: #aaa;
  --ours: #4aa8e0; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1180px;
  margin: 2em auto; padding: 0 1em; }
h1 { margin: 0; } h2 { margin: 2em 0 .3em; border-bottom: 1px solid var(--faint); }
.cases { display: grid; grid-template-columns: repeat(auto-fill, minmax(500px, 1fr)); gap: 0 2em; }
figure { margin: 1em 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; }
svg text { font-size: 13px; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
svg text:not([fill]) { fill: var(--ink); }
svg text.small { font-size: 11px; } svg text.ours { font-weight: 700; }
.bar.ours { fill: var(--ours); } .bar.limit { fill: var(--limit); } .bar.peer { fill: var(--peer); }
.whisker { stroke: var(--ink); stroke-width: 2; } .goal { stroke: var(--ink); stroke-dasharray: 4 3; fill: none; }
.grid { stroke: var(--faint); fill: none; }
.verdict { font-size: 13px; } .missed { font-weight: 700; } .faint { opacity: .75; font-size: 13px; }
.key span { display: inline-block; width: 1em; height: .8em; margin: 0 .4em 0 1em; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: .1em .8em .1em 0; text-align: right; }
td:first-child, th:first-child { text-align: left; }
"""


def tightest_goal(result, case):
    """The figure that ours has to stay below, of all its goals the least; None without one."""
    ours = figures.median(case["peers"][OURS]["rounds"])
    parts = [found[0] for goal in case["goals"] if (found := table.value_of(result, case, goal)) is not None]
    worst = max(parts, default=0)
    return ours / worst if worst > 0 and ours > 0 else None


def verdicts(result, case):
    lines = []
    for met, told in table.goals(result, case):
        words = "✓ " if met else "✗ missed: "
        lines.append(f'<span class="{"met" if met else "missed"}">{words}{html.escape(told)}</span>')
    return "<br>".join(lines)


def latencies(case):
    rows = [(peer, said) for peer, said in case["peers"].items() if "p50" in said]
    if not rows:
        return ""
    lines = ["<table><tr><th>time to the answer</th><th>p50</th><th>p99</th><th>p99.9</th><th>requests a second</th>"
             "<th>server busy</th></tr>"]
    for peer, said in rows:
        cells = "".join(f"<td>{figures.median(said[name]) / 1000:,.0f} us</td>" for name in ("p50", "p99", "p99.9"))
        lines.append(f"<tr><td>{peer}</td>{cells}<td>{figures.median(said['rate']):,.0f}</td>"
                     f"<td>{100 * figures.median(said['busy']):.0f} %</td></tr>")
    return "".join(lines) + "</table>"


def case_figure(result, case):
    svg, note = plots.bars(case, tightest_goal(result, case))
    return (f'<figure><figcaption>{html.escape(case["title"])}<span class="faint">{note}</span></figcaption>{svg}'
            f'<div class="verdict">{verdicts(result, case)}</div>{latencies(case)}</figure>')


def curve_figures(result):
    for key, title, axis, _, _ in CURVES:
        lines = {}
        for case in result["cases"]:
            name, _, size = case["key"].partition("/")
            if name == key and size.isdigit():
                for peer, said in case["peers"].items():
                    lines.setdefault(peer, []).append((int(size), figures.median(said["rounds"])))
        lines = {peer: sorted(line) for peer, line in lines.items() if len(line) > 2}
        if lines:
            yield plots.curve(f"{title}: time an operation, by {axis}", axis, "ns", lines)


def page(result):
    cases = [case for case in result["cases"] if case["in_table"]]
    held = [met for case in cases for met, _ in table.goals(result, case)]
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>bide: figures</title>',
        '<meta name="viewport" content="width=device-width">', f"<style>{STYLE}</style><h1>bide beside its peers</h1>",
        f"<p>{'<br>'.join(map(html.escape, table.heading(result)))}</p>",
        f"<p><b>{sum(held)} of {len(held)} goals met.</b> Shorter is better. Figures are medians over the rounds, "
        "the line across a bar's end is the middle half of the rounds.</p>",
        '<p class="key"><span style="background: var(--ours)"></span>bide<span style="background: var(--limit)"></span>'
        'by hand: the practical limit<span style="background: var(--peer)"></span>peers</p>',
    ]
    missed = [(case, told) for case in cases for met, told in table.goals(result, case) if not met]
    listed = "".join(f"<li>missed: {html.escape(case['title'] + ': ' + told)}</li>" for case, told in missed)
    parts.append(f"<ul>{listed}</ul>")
    if curves := list(curve_figures(result)):
        parts.append(f'<h2>Growth</h2><div class="cases">{"".join(curves)}</div>')
    for row in dict.fromkeys(case["row"] for case in cases):
        plotted = "".join(case_figure(result, case) for case in cases if case["row"] == row)
        parts.append(f'<h2>{row} · {ROWS.get(row, "")}</h2><div class="cases">{plotted}</div>')
    left_out = "".join(f"<li>{html.escape(f'{peer}: {why}')}</li>" for peer, why in result["missing"].items())
    if left_out:
        parts.append(f"<h2>Left out</h2><ul>{left_out}</ul>")
    order = "".join(f"<tr><td>{name}</td><td><code>{text}</code></td></tr>" for name, text in result["digests"].items())
    parts.append(f"<h2>Order</h2><p>The digest of each core case's schedule: a speed-up must not change it.</p>"
                 f"<table>{order}</table></html>")
    return "\n".join(parts)
