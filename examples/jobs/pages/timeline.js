"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const classes = ["low", "normal", "high", "critical"];
const refusals = { too_wide: "needs more workers than there are", queue_full: "the queue was full", skipped: "a job that it is after ended otherwise" };
const axisHeight = 26, refusedHeight = 18, most = 500, tallest = 44, narrow = 7;
const $ = (id) => document.getElementById(id);
const canvas = $("lanes"), overview = $("overview"), tip = $("tip");
const jobs = data.jobs, jobCount = jobs.name.length;

// Of the run that is shown: bars are rectangles of neighbouring lanes, in the order of their starts.
let run, bars, order, missed, refused, laneCount, waiting;
let view = { from: 0, to: 1, top: 0, laneHeight: 20 };
let chosen = -1, hovered = -1;

const isDone = (i) => typeof run.start[i] === "number";
const isMissed = (i) => isDone(i) && jobs.deadline[i] !== null && run.end[i] > jobs.deadline[i];

function timeText(ns) {
  if (ns < 0) return "-" + timeText(-ns);
  if (ns === 0) return "0s";
  if (ns < 1e3) return Math.round(ns) + "ns";
  if (ns < 1e6) return +(ns / 1e3).toFixed(3) + "us";
  if (ns < 1e9) return +(ns / 1e6).toFixed(3) + "ms";
  if (ns < 60e9) return +(ns / 1e9).toFixed(3) + "s";
  let seconds = Math.round(ns / 1e9);
  const days = Math.floor(seconds / 86400); seconds -= days * 86400;
  const hours = Math.floor(seconds / 3600); seconds -= hours * 3600;
  const minutes = Math.floor(seconds / 60); seconds -= minutes * 60;
  const two = (n) => String(n).padStart(2, "0");
  if (days) return `${days}d${two(hours)}h${two(minutes)}m${two(seconds)}s`;
  if (hours) return `${hours}h${two(minutes)}m${two(seconds)}s`;
  return `${minutes}m${two(seconds)}s`;
}
const axisText = (ns) => timeText(ns).replace(/^(\d+m|.*h)00s$|^(.*h)00m00s$|^(.*d)00h00m00s$/, (all, m, h, d) => d || (h && h.replace(/d00h$/, "d")) || m)
  .replace(/([dh]\d\dm)00s$/, "$1");

function load(index) {
  run = data.runs[index];
  bars = []; missed = []; refused = []; laneCount = 1;
  order = [];
  for (let i = 0; i < jobCount; ++i) {
    if (!isDone(i)) { refused.push(i); continue; }
    order.push(i);
    if (isMissed(i)) missed.push(i);
    const lanes = run.lanes[i];
    for (let k = 0; k < lanes.length; k += 2) {
      bars.push({ job: i, start: run.start[i], end: run.end[i], lane: lanes[k], count: lanes[k + 1], last: k + 2 >= lanes.length });
      laneCount = Math.max(laneCount, lanes[k] + lanes[k + 1]);
    }
  }
  const byStart = (a, b) => run.start[a] - run.start[b] || a - b;
  order.sort(byStart);
  missed.sort(byStart);
  bars.sort((a, b) => a.start - b.start);
  waiting = waitingCounts();
  chosen = -1;
  const late = run.deadlines ? `${run.missed} of ${run.deadlines} deadlines missed` : "no deadlines";
  $("summary").textContent = `${data.source}: policy ${run.policy}, ${run.workers} worker${run.workers === 1 ? "" : "s"}, ` +
    `${run.done} jobs done, ${run.refused} refused, ${late}, makespan ${timeText(run.makespan)}, ` +
    `utilisation ${(run.utilisation_permille / 10).toFixed(1)} %`;
  listMissed();
  // No taller than its lanes need.
  canvas.style.height = `min(max(320px, calc(100vh - 330px)), ${lanesTop() + laneCount * tallest + 8}px)`;
  fit();
}

// How many jobs wait, as steps of [instant, count].
function waitingCounts() {
  const steps = [];
  for (const i of order) steps.push([jobs.submit[i], 1], [run.start[i], -1]);
  steps.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let count = 0;
  return steps.map(([at, change]) => [at, count += change]);
}

function listMissed() {
  const rows = $("late-rows");
  rows.textContent = "";
  for (const i of missed.slice(0, most)) {
    const row = rows.insertRow();
    const cells = [jobs.name[i], classes[jobs.class[i]], timeText(jobs.submit[i]), timeText(run.start[i]), timeText(run.end[i]),
      timeText(jobs.deadline[i]), timeText(run.end[i] - jobs.deadline[i])];
    cells.forEach((text, k) => { const cell = row.insertCell(); cell.textContent = text; if (k > 1) cell.className = "number"; });
  }
  $("late-list").hidden = missed.length === 0;
  $("late-more").textContent = missed.length > most ? `and ${missed.length - most} more` : "";
}

// ---- geometry: pixels of CSS
const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
const lanesTop = () => axisHeight + (refused.length ? refusedHeight : 0);
const lanesRoom = () => size().height - lanesTop();
const xOf = (t) => (t - view.from) / (view.to - view.from) * size().width;
const tOf = (x) => view.from + x / size().width * (view.to - view.from);
const yOf = (lane) => lanesTop() + lane * view.laneHeight - view.top;

function clampView() {
  const whole = Math.max(run.makespan, 1), margin = whole * 0.02;
  const span = Math.min(Math.max(view.to - view.from, 100), whole + 2 * margin);
  view.from = Math.min(Math.max(view.from, -margin), whole + margin - span);
  view.to = view.from + span;
  const least = Math.min(lanesRoom() / laneCount, 14);
  view.laneHeight = Math.min(Math.max(view.laneHeight, least), 90);
  view.top = Math.min(Math.max(view.top, 0), Math.max(0, laneCount * view.laneHeight - lanesRoom()));
}
function fit() {
  view = { from: -Infinity, to: Infinity, top: 0, laneHeight: 0 };
  const whole = Math.max(run.makespan, 1);
  view.from = -whole * 0.02; view.to = whole * 1.02;
  view.laneHeight = Math.min(tallest, lanesRoom() / laneCount);
  draw();
}
function zoom(factor, x = size().width / 2) {
  const at = tOf(x);
  view.from = at - (at - view.from) * factor;
  view.to = at + (view.to - at) * factor;
  draw();
}
function stretch(factor, y = lanesRoom() / 2) {
  const lane = (y + view.top) / view.laneHeight;
  const before = view.laneHeight;
  view.laneHeight *= factor;
  clampView();
  if (view.laneHeight !== before) view.top = lane * view.laneHeight - y;
  draw();
}
function move(pixelsX, pixelsY) {
  const t = pixelsX / size().width * (view.to - view.from);
  view.from += t; view.to += t; view.top += pixelsY;
  draw();
}

// ---- drawing
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "panel", "stripe", "line", "text", "quiet", "accent", "critical", "high", "normal", "low", "late", "late-edge", "on-critical", "on-high", "on-normal", "on-low"])
    colours[name] = style.getPropertyValue("--" + name).trim();
}
function context(of) {
  const ratio = window.devicePixelRatio || 1, width = of.clientWidth, height = of.clientHeight;
  if (of.width !== Math.round(width * ratio) || of.height !== Math.round(height * ratio)) {
    of.width = Math.round(width * ratio); of.height = Math.round(height * ratio);
  }
  const c = of.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  return c;
}
let frame = 0;
function draw() {
  clampView();
  if (frame) return;
  frame = requestAnimationFrame(() => { frame = 0; drawLanes(); drawOverview(); });
}

const steps = [];
for (const [unit, parts] of [[1, [1, 2, 5, 10, 20, 50, 100, 200, 500]], [1e3, [1, 2, 5, 10, 20, 50, 100, 200, 500]], [1e6, [1, 2, 5, 10, 20, 50, 100, 200, 500]],
  [1e9, [1, 2, 5, 10, 15, 30]], [60e9, [1, 2, 5, 10, 15, 30]], [3600e9, [1, 2, 3, 6, 12]], [86400e9, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000]]])
  for (const part of parts) steps.push(unit * part);

function drawAxis(c, width, height) {
  const least = (view.to - view.from) * 95 / width;
  const step = steps.find((s) => s >= least) || steps[steps.length - 1];
  c.fillStyle = colours.panel;
  c.fillRect(0, 0, width, axisHeight);
  c.textBaseline = "middle";
  c.textAlign = "center";
  for (let t = Math.max(0, Math.ceil(view.from / step) * step); t <= view.to; t += step) {
    const x = Math.round(xOf(t)) + 0.5;
    c.strokeStyle = colours.line;
    c.beginPath(); c.moveTo(x, axisHeight - 5); c.lineTo(x, height); c.stroke();
    c.fillStyle = colours.quiet;
    c.fillText(axisText(t), x, axisHeight / 2 - 1);
  }
  c.strokeStyle = colours.line;
  c.beginPath(); c.moveTo(0, axisHeight - 0.5); c.lineTo(width, axisHeight - 0.5); c.stroke();
}

function drawStripes(c, width, height) {
  if (view.laneHeight < 5) return;
  c.fillStyle = colours.stripe;
  const first = Math.floor(view.top / view.laneHeight);
  for (let lane = first + first % 2; lane < laneCount && yOf(lane) < height; lane += 2) c.fillRect(0, yOf(lane), width, view.laneHeight);
}
function drawLaneNames(c, height) {
  if (view.laneHeight < 14) return;
  c.textAlign = "left";
  for (let lane = Math.floor(view.top / view.laneHeight); lane < laneCount && yOf(lane) < height; ++lane) {
    const text = String(lane + 1), y = yOf(lane) + view.laneHeight / 2;
    c.fillStyle = colours.panel; c.globalAlpha = 0.75;
    c.fillRect(0, y - 7, c.measureText(text).width + 8, 14);
    c.globalAlpha = 1; c.fillStyle = colours.quiet;
    c.fillText(text, 4, y);
  }
}

function drawTriangle(c, x, y, s) {
  c.beginPath(); c.moveTo(x - s, y); c.lineTo(x + s, y); c.lineTo(x, y + 1.7 * s); c.closePath();
  c.fillStyle = colours.late; c.fill();
  c.strokeStyle = colours["late-edge"]; c.lineWidth = 1; c.stroke();
}
function drawHatch(c, x, y, w, h) {
  if (w < 2 || h < 4) return;
  c.save();
  c.beginPath(); c.rect(x, y, w, h); c.clip();
  c.strokeStyle = colours.late; c.lineWidth = 1.2;
  c.beginPath();
  const from = Math.max(x - h, -h), to = Math.min(x + w, size().width);
  for (let at = from - from % 6; at < to; at += 6) { c.moveTo(at, y + h); c.lineTo(at + h, y); }
  c.stroke();
  c.restore();
}

function drawBars(c, width, height) {
  const filled = new Map();  // by row of pixels and height: up to which pixel it is filled already
  const triangles = new Set(), marks = [], names = [], strips = [];
  let special = null, colour = "";
  for (const bar of bars) {
    if (bar.start > view.to) break;
    if (bar.end < view.from) continue;
    // Whole pixels: many times as fast, and neighbours neither overlap nor leave a seam.
    const y = Math.round(yOf(bar.lane)), below = Math.round(yOf(bar.lane + bar.count));
    if (y > height || below < lanesTop()) continue;
    const h = Math.max(below - y - (below - y > 3 ? 1 : 0), 1);
    const x = Math.round(Math.max(xOf(bar.start), -20)), end = Math.round(Math.min(xOf(bar.end), width + 20));
    const late = isMissed(bar.job), row = y * 8192 + h;
    if (bar.job === chosen || bar.job === hovered) special = special ? special.concat([[x, y, end - x, h]]) : [[x, y, end - x, h]];
    if (!late && end - x <= 1 && filled.get(row) >= end) continue;
    filled.set(row, Math.max(end, x + 1));
    const w = Math.max(end - x - (end - x > 4 ? 1 : 0), 1), kind = classes[jobs.class[bar.job]];
    if (kind !== colour) c.fillStyle = colours[colour = kind];
    c.fillRect(x, y, w, h);
    if (late && w < narrow) {
      // A mark for each would hide them all.
      strips.push([x, y, Math.max(end - x, 1), Math.min(3, Math.max(1, h / 4))]);
    } else if (late) {
      const from = Math.max(xOf(jobs.deadline[bar.job]), x);
      drawHatch(c, from, y, x + w - from, h);
      const s = Math.min(6, Math.max(2.5, view.laneHeight / 3)), key = row * 8192 + Math.floor(end / (2 * s));
      if (bar.last && !triangles.has(key)) { triangles.add(key); marks.push([end, y, s]); }
    }
    const left = Math.max(x, 0), room = Math.min(x + w, width) - left;
    if (h >= 12 && room > 34) names.push([jobs.name[bar.job], kind, left, y, room, h]);
  }
  c.fillStyle = colours.late;
  for (const strip of strips) c.fillRect(...strip);
  for (const name of names) drawName(c, ...name);
  if (special) {
    c.strokeStyle = colours.text; c.lineWidth = 2;
    for (const [x, y, w, h] of special) c.strokeRect(x - 1, y - 1, Math.max(w, 1) + 1, h + 2);
  }
  for (const [x, y, s] of marks) drawTriangle(c, x, y - 1, s);
}
function drawName(c, name, kind, x, y, w, h) {
  const indent = x < 1 ? 26 : 5;  // beside the number of the lane
  if (w < indent + 24) return;
  c.save();
  c.beginPath(); c.rect(x, y, w - 3, h); c.clip();
  c.textAlign = "left"; c.lineJoin = "round"; c.lineWidth = 4;
  c.strokeStyle = colours[kind]; c.fillStyle = colours["on-" + kind];
  const text = shortened(c, name, w - indent - 5), middle = y + Math.min(h / 2, 14);
  c.strokeText(text, x + indent, middle);  // the hatching goes round it
  c.fillText(text, x + indent, middle);
  c.restore();
}
function shortened(c, name, room) {
  if (name.length > 200) name = name.slice(0, 200);
  if (c.measureText(name).width <= room) return name;
  let least = 0, most = name.length;  // the characters that fit, by halves
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (c.measureText(name.slice(0, middle) + "\u2026").width <= room) least = middle; else most = middle - 1;
  }
  return least < 2 ? "" : name.slice(0, least) + "\u2026";
}

function drawChosen(c, height) {
  if (chosen < 0 || !isDone(chosen)) return;
  const bar = bars.find((b) => b.job === chosen);
  if (!bar) return;
  const y = yOf(bar.lane) + view.laneHeight * bar.count / 2;
  c.strokeStyle = colours.text; c.lineWidth = 1.5;
  c.setLineDash([4, 3]);
  c.beginPath(); c.moveTo(xOf(jobs.submit[chosen]), y); c.lineTo(xOf(bar.start), y); c.stroke();
  c.setLineDash([]);
  const top = yOf(bar.lane) - 4, bottom = yOf(bar.lane + bar.count) + 4;
  for (const [t, width] of [[jobs.submit[chosen], 1], [jobs.deadline[chosen], 3]]) {
    if (t === null) continue;
    c.lineWidth = width;
    c.beginPath(); c.moveTo(xOf(t), top); c.lineTo(xOf(t), Math.min(bottom, height)); c.stroke();
  }
}
function drawRefused(c, width) {
  if (!refused.length) return;
  c.fillStyle = colours.panel;
  c.fillRect(0, axisHeight, width, refusedHeight);
  c.strokeStyle = colours.text; c.lineWidth = 1.5;
  c.beginPath();
  let last = -10;
  for (const i of refused) {
    const x = xOf(jobs.submit[i]), y = axisHeight + refusedHeight / 2;
    if (x < -5 || x > width + 5 || Math.abs(x - last) < 3) continue;
    last = x;
    c.moveTo(x - 4, y - 4); c.lineTo(x + 4, y + 4); c.moveTo(x + 4, y - 4); c.lineTo(x - 4, y + 4);
  }
  c.stroke();
}

function drawLanes() {
  const c = context(canvas), { width, height } = size();
  c.save();
  c.beginPath(); c.rect(0, lanesTop(), width, height); c.clip();
  drawStripes(c, width, height);
  c.restore();
  drawAxis(c, width, height);
  c.save();
  c.beginPath(); c.rect(0, lanesTop() - 6, width, height); c.clip();
  drawBars(c, width, height);
  drawChosen(c, height);
  drawLaneNames(c, height);
  c.restore();
  drawRefused(c, width);
}

// The whole run: how many jobs wait, where deadlines were missed, and which part is shown below.
function drawOverview() {
  const c = context(overview), width = overview.clientWidth, height = overview.clientHeight;
  const whole = Math.max(run.makespan, 1), x = (t) => (t + whole * 0.02) / (whole * 1.04) * width;
  let peak = 1;
  for (const [, count] of waiting) peak = Math.max(peak, count);
  const y = (count) => height - 4 - count / peak * (height - 20);
  c.fillStyle = colours.normal; c.globalAlpha = 0.35;
  c.beginPath(); c.moveTo(x(0), y(0));
  let lastX = -1, highest = 0, before = 0;
  for (const [at, count] of waiting) {
    const here = Math.round(x(at));
    if (here !== lastX) {
      if (lastX >= 0) { c.lineTo(lastX, y(highest)); c.lineTo(lastX, y(before)); }
      c.lineTo(here, y(before));
      lastX = here; highest = before;
    }
    highest = Math.max(highest, count); before = count;
  }
  if (lastX >= 0) { c.lineTo(lastX, y(highest)); c.lineTo(lastX, y(0)); }
  c.closePath(); c.fill();
  c.globalAlpha = 1;
  let lastMark = -10;
  for (const i of missed) {
    const at = x(run.end[i]);
    if (Math.abs(at - lastMark) < 6) continue;
    lastMark = at;
    drawTriangle(c, at, 2, 3);
  }
  c.fillStyle = colours.quiet; c.textAlign = "left"; c.textBaseline = "top";
  c.fillText(`waiting, at most ${peak === 1 && !waiting.some((s) => s[1]) ? 0 : peak}`, 6, 14);
  c.fillStyle = colours.accent; c.globalAlpha = 0.15;
  const left = x(view.from), right = Math.max(x(view.to), left + 2);
  c.fillRect(left, 0, right - left, height);
  c.globalAlpha = 1; c.strokeStyle = colours.accent; c.lineWidth = 1.5;
  c.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
}

// ---- choosing
function facts(i) {
  const list = [["class", classes[jobs.class[i]]], ["submit", timeText(jobs.submit[i])]];
  if (jobs.slots[i] > 1) list.push(["slots", jobs.slots[i]]);
  if (isDone(i)) {
    list.push(["start", timeText(run.start[i])], ["end", timeText(run.end[i])], ["wait", timeText(run.start[i] - jobs.submit[i])]);
  } else {
    list.push(["refused", refusals[run.start[i]]]);
  }
  if (jobs.deadline[i] !== null) {
    list.push(["deadline", timeText(jobs.deadline[i])]);
    if (isDone(i)) {
      const late = run.end[i] - jobs.deadline[i];
      list.push(late > 0 ? ["lateness", "MISSED, late by " + timeText(late)] : ["lateness", "met, " + timeText(-late) + " before"]);
    }
  } else list.push(["deadline", "none"]);
  return list;
}
function choose(i) {
  chosen = i;
  $("chosen").textContent = i < 0 ? "No job is chosen." : `${jobs.name[i]} (line ${jobs.line[i]}): ` + facts(i).map(([k, v]) => `${k} ${v}`).join(", ");
  draw();
}
function show(i) {
  const start = isDone(i) ? run.start[i] : jobs.submit[i], end = isDone(i) ? run.end[i] : start;
  if (end < view.from || start > view.to || xOf(end) - xOf(start) < 3) {
    const span = Math.min(view.to - view.from, Math.max((end - start) * 8, (run.makespan || 1) / 200));
    view.from = (start + end) / 2 - span / 2; view.to = view.from + span;
  }
  const bar = bars.find((b) => b.job === i);
  if (bar && (yOf(bar.lane) < lanesTop() || yOf(bar.lane + 1) > size().height)) view.top = bar.lane * view.laneHeight - lanesRoom() / 2;
  choose(i);
}
function step(list, direction) {
  if (!list.length) return;
  let at = list.indexOf(chosen);
  if (at < 0) {  // from the chosen job on, or from what is shown
    const from = chosen >= 0 && isDone(chosen) ? run.start[chosen] : view.from;
    at = list.findIndex((i) => run.start[i] >= from);
    if (direction > 0) at = at < 0 ? 0 : at; else at = at < 0 ? list.length - 1 : (at + list.length - 1) % list.length;
  } else at = (at + direction + list.length) % list.length;
  show(list[at]);
}

function hit(x, y) {
  if (y < lanesTop()) {
    if (!refused.length || y < axisHeight) return -1;
    let best = -1, near = 6;
    for (const i of refused) { const d = Math.abs(xOf(jobs.submit[i]) - x); if (d < near) { near = d; best = i; } }
    return best;
  }
  let best = -1, near = 4;
  for (const bar of bars) {
    const top = yOf(bar.lane);
    if (y < top || y > top + bar.count * view.laneHeight) continue;
    const left = xOf(bar.start), right = xOf(bar.end);
    const d = x < left ? left - x : x > right ? x - right : 0;
    if (d < near) { near = d; best = bar.job; if (d === 0 && right - left > 3) break; }
  }
  return best;
}
function point(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const i = hit(x, y);
  if (i !== hovered) { hovered = i; draw(); }
  tip.hidden = i < 0;
  if (i < 0) return;
  const title = document.createElement("strong"), list = document.createElement("dl");
  title.textContent = jobs.name[i];
  for (const [k, v] of facts(i)) {
    list.append(Object.assign(document.createElement("dt"), { textContent: k }), Object.assign(document.createElement("dd"), { textContent: v }));
  }
  tip.replaceChildren(title, list);
  const right = document.documentElement.clientWidth - tip.offsetWidth - 8, below = event.clientY + 14;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, right)) + "px";
  tip.style.top = (below + tip.offsetHeight > innerHeight ? Math.max(4, event.clientY - tip.offsetHeight - 12) : below) + "px";
}

// ---- events
let drag = null;
canvas.addEventListener("pointerdown", (e) => {
  drag = { x: e.clientX, y: e.clientY, moved: false };
  canvas.setPointerCapture(e.pointerId);
  canvas.classList.add("moving");
});
canvas.addEventListener("pointermove", (e) => {
  if (!drag) return point(e);
  if (!drag.moved && Math.hypot(e.clientX - drag.x, e.clientY - drag.y) < 4) return;
  drag.moved = true; tip.hidden = true;
  move(drag.x - e.clientX, drag.y - e.clientY);
  drag.x = e.clientX; drag.y = e.clientY;
});
canvas.addEventListener("pointerup", (e) => {
  const moved = drag && drag.moved;
  drag = null; canvas.classList.remove("moving");
  if (moved) return;
  const box = canvas.getBoundingClientRect();
  choose(hit(e.clientX - box.left, e.clientY - box.top));
});
canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("moving"); });
canvas.addEventListener("pointerleave", () => { tip.hidden = true; if (hovered >= 0) { hovered = -1; draw(); } });
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  const box = canvas.getBoundingClientRect(), amount = Math.max(-300, Math.min(300, e.deltaY * (e.deltaMode ? 20 : 1)));
  if (e.altKey) stretch(Math.exp(-amount / 400), e.clientY - box.top - lanesTop());
  else if (e.shiftKey) move(amount || e.deltaX, 0);
  else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(e.deltaX, 0);
  else zoom(Math.exp(amount / 300), e.clientX - box.left);
  point(e);
}, { passive: false });
canvas.addEventListener("keydown", (e) => {
  const { width, height } = size();
  const acts = {
    ArrowLeft: () => move(-width / 8, 0), ArrowRight: () => move(width / 8, 0),
    ArrowUp: () => move(0, -height / 8), ArrowDown: () => move(0, height / 8),
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: fit, Home: fit,
    "]": () => stretch(1.4), "[": () => stretch(1 / 1.4),
    n: () => step(order, 1), N: () => step(order, -1), m: () => step(missed, 1), M: () => step(missed, -1), Escape: () => choose(-1),
  };
  if (!acts[e.key] || e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  acts[e.key]();
});
const moveOverview = (e) => {
  const box = overview.getBoundingClientRect(), span = view.to - view.from;
  const at = (e.clientX - box.left) / box.width * Math.max(run.makespan, 1) * 1.04 - Math.max(run.makespan, 1) * 0.02;
  view.from = at - span / 2; view.to = at + span / 2;
  draw();
};
overview.addEventListener("pointerdown", (e) => { overview.setPointerCapture(e.pointerId); moveOverview(e); });
overview.addEventListener("pointermove", (e) => { if (e.buttons) moveOverview(e); });
$("zoom-in").onclick = () => zoom(0.6);
$("zoom-out").onclick = () => zoom(1 / 0.6);
$("fit").onclick = fit;
$("taller").onclick = () => stretch(1.4);
$("flatter").onclick = () => stretch(1 / 1.4);
$("missed-next").onclick = () => step(missed, 1);
$("missed-before").onclick = () => step(missed, -1);
$("run").onchange = (e) => load(+e.target.value);
$("find").addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || !e.target.value) return;
  const text = e.target.value.toLowerCase(), from = order.indexOf(chosen) + 1;
  const all = [...order.slice(from), ...order.slice(0, from), ...refused];
  const found = all.find((i) => jobs.name[i].toLowerCase().includes(text));
  if (found === undefined) $("chosen").textContent = `No job has "${e.target.value}" in its name.`;
  else show(found);
});
$("theme").onclick = () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  readColours(); draw();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
new ResizeObserver(draw).observe($("chart"));
data.runs.forEach((r, i) => $("run").add(new Option(r.policy, i)));
$("run-choice").hidden = data.runs.length < 2;
readColours();
load(0);
