"""Plots as inline SVG: bars with spread, and curves. What a colour says is written beside it, too."""

import html
import math

from harness import figures
from harness.table import LIMITS, number
from harness.rows import OURS

# Okabe and Ito's palette, told apart by whoever sees few colours; curves have a mark each besides.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7f00", "#777777", "#6a3d9a")
MARKS = "●■▲◆▼✚✖★✦"
ROW, LABEL, WIDTH, VALUE = 22, 110, 420, 150  # pixels: a bar's height, and the three columns
LOG_FROM = 20  # a scale is logarithmic where the largest is so many times the least


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>'


class Scale:
    """From figures to pixels."""

    def __init__(self, values, pixels):
        values = [value for value in values if value > 0] or [1.0]
        self.pixels, self.most = pixels, max(values)
        self.logarithmic = self.most / min(values) > LOG_FROM
        self.least = min(values) / 2 if self.logarithmic else 0.0

    def __call__(self, value):
        if self.logarithmic:
            value = max(value, self.least)
            return self.pixels * math.log(value / self.least) / math.log(self.most / self.least)
        return self.pixels * value / self.most


def kind_of(peer):
    return "ours" if peer in (OURS, "bide epoll") else "limit" if peer in LIMITS else "peer"


def quartiles(values):
    middle, part = figures.median(values), figures.spread(values)
    return middle * (1 - part), middle * (1 + part)


def bars(case, goal):
    """One case: a bar a peer, the least first; a dashed line where our goal is."""
    rounds = {peer: said["rounds"] for peer, said in case["peers"].items()}
    order = sorted(rounds, key=lambda peer: figures.median(rounds[peer]))
    scale = Scale([figures.median(values) for values in rounds.values()] + ([goal] if goal else []), WIDTH)
    height = ROW * len(order) + (16 if goal else 4)
    parts = [f'<svg viewBox="0 0 {LABEL + WIDTH + VALUE} {height}" role="img">']
    for place, peer in enumerate(order):
        top = ROW * place
        middle = figures.median(rounds[peer])
        parts.append(text(LABEL - 6, top + 15, peer, kind_of(peer), "end"))
        parts.append(f'<rect x="{LABEL}" y="{top + 3}" width="{max(scale(middle), 1):.1f}" height="{ROW - 6}" '
                     f'class="bar {kind_of(peer)}"/>')
        first, third = (LABEL + scale(value) for value in quartiles(rounds[peer]))
        if third - first > 1:
            parts.append(f'<path d="M{first:.1f} {top + ROW / 2} H{third:.1f}" class="whisker"/>')
        parts.append(text(LABEL + max(scale(middle), third - LABEL) + 6, top + 15, number(middle, case["unit"])))
    if goal:
        x = LABEL + scale(goal)
        parts.append(f'<path d="M{x:.1f} 0 V{ROW * len(order)}" class="goal"/>')
        parts.append(text(x, height - 2, f"goal {number(goal, case['unit'])}", "small", "middle"))
    parts.append("</svg>")
    note = ", logarithmic scale" if scale.logarithmic else ""
    return "\n".join(parts), note


def curve(title, axis, unit, lines):
    """`lines`: {peer: [(size, figure)]}; both axes logarithmic."""
    width, height, left, bottom, right = 560, 300, 60, 34, 130
    points = [point for line in lines.values() for point in line]
    sizes, values = [size for size, _ in points], [max(value, 1e-3) for _, value in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    high = max(high, low + 1)
    first, last = math.log10(min(sizes)), max(math.log10(max(sizes)), math.log10(min(sizes)) + 1)

    def x(size):
        return left + (width - left) * (math.log10(size) - first) / (last - first)

    def y(value):
        return (height - bottom) * (high - math.log10(max(value, 1e-3))) / (high - low) + 8

    parts = [f'<svg viewBox="0 0 {width + right} {height + 10}" role="img">']
    for power in range(low, high + 1):
        parts.append(f'<path d="M{left} {y(10**power):.1f} H{width}" class="grid"/>')
        parts.append(text(left - 6, y(10**power) + 4, number(10**power, unit), "small", "end"))
    for power in range(math.ceil(first), math.floor(last) + 1):
        parts.append(text(x(10**power), height - 10, f"{10**power:,}", "small", "middle"))
    parts.append(text((left + width) / 2, height + 6, axis, "small", "middle"))
    taken = []
    order = sorted(lines, key=lambda peer: (peer != OURS, peer))
    for peer in sorted(order, key=lambda peer: lines[peer][-1][1]):
        place = order.index(peer) % len(COLOURS)
        colour, mark = COLOURS[place], MARKS[place]
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in lines[peer])
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                     f'stroke-width="{3 if peer == OURS else 1.5}"/>')
        for size, value in lines[peer]:
            parts.append(f'<text x="{x(size):.1f}" y="{y(value) + 4:.1f}" fill="{colour}" font-size="11" '
                         f'text-anchor="middle">{mark}<title>{peer}, {size:,}: {number(value, unit)}</title></text>')
        label = y(lines[peer][-1][1]) + 4
        while any(abs(label - other) < 13 for other in taken):  # names don't cover one another
            label -= 13
        taken.append(label)
        parts.append(f'<text x="{x(lines[peer][-1][0]) + 10:.1f}" y="{label:.1f}" fill="{colour}">{mark} {peer}</text>')
    parts.append("</svg>")
    return f"<figure><figcaption>{html.escape(title)}</figcaption>" + "\n".join(parts) + "</figure>"
