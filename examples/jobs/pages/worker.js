"use strict";
const $ = (id) => document.getElementById(id);
const every = 1000;  // milliseconds between two looks
let state = null, token = sessionStorage.getItem("token") || "", paused = false, timer = 0;

function span(ms) {
  if (ms < 0) return "-" + span(-ms);
  if (ms < 1000) return Math.round(ms) + " ms";
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return (ms / 1000).toFixed(1) + " s";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} m`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}
const clock = (ms) => new Date(ms).toLocaleTimeString();
const points = (score) => (score / 1000).toFixed(1);

async function call(method, target, body) {
  const headers = {};
  if (token) headers.Authorization = "Bearer " + token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(target, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

// ---- cells
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
function button(text, label, act) {
  const made = element("button", text);
  made.setAttribute("aria-label", label);
  made.onclick = async () => {
    made.disabled = true;
    try { await act(); } catch (error) { tell(error.message); }
    look();
  };
  return made;
}
const jobLink = (job) => { const made = element("button", job.name, "link"); made.onclick = () => open(job.id); return made; };
const idLink = (id) => { const made = element("button", String(id), "link"); made.onclick = () => open(id); return made; };
const classCell = (job) => {
  const lifted = job.effective_priority && job.effective_priority !== job.priority;
  const made = element("span", lifted ? `${job.priority}, as ${job.effective_priority}` : job.priority, "class " + job.priority);
  if (lifted) made.title = "a more urgent job waits for it";
  return made;
};
const statusCell = (status) => element("span", status.replace("_", " "), "status " + status);
function deadlineCell(job) {
  if (job.deadline === null) return "";
  const left = job.deadline - state.now;
  return left < 0 ? element("span", span(-left) + " late", "late") : "in " + span(left);
}
const cancel = (job) => button("Cancel", `Cancel job ${job.id}`, () => call("DELETE", "/api/jobs/" + job.id));

// The rows of a table; what has the focus keeps it.
function fill(id, rows, numbers, empty) {
  const body = $(id), focused = body.contains(document.activeElement);
  const at = focused ? [...body.querySelectorAll("button")].indexOf(document.activeElement) : -1;
  const made = rows.map((cells) => {
    const row = document.createElement("tr");
    cells.forEach((cell, i) => {
      const td = document.createElement("td");
      if (numbers.includes(i)) td.className = "number";
      td.append(cell);
      row.append(td);
    });
    return row;
  });
  if (!made.length) {
    const row = element("tr", undefined, "none"), td = element("td", empty);
    td.colSpan = 12; row.append(td); made.push(row);
  }
  body.replaceChildren(...made);
  if (at >= 0) { const buttons = body.querySelectorAll("button"); if (buttons.length) buttons[Math.min(at, buttons.length - 1)].focus(); }
}

function show() {
  const live = state.live, of = (...names) => live.filter((job) => names.includes(job.status));
  const sum = (member) => state.pools.reduce((all, pool) => all + pool[member], 0);
  const running = of("running"), ready = of("ready"), waiting = of("blocked", "scheduled", "retrying");
  const due = state.deadlines, overdue = due.filter((job) => job.deadline < state.now).length;
  const late = overdue > 0 && overdue === due.length && due.length >= 100 ? overdue + " or more" : overdue;
  const counts = [[`${sum("running")} of ${sum("workers")}`, "workers busy"], [sum("ready"), "ready"], [sum("waiting") - sum("ready"), "not ready yet"],
    [span(Math.max(0, ...state.pools.map((pool) => pool.longest_wait_ms))), "longest wait"], [late, "late now", overdue > 0], [state.dead_letter_count, "dead letters", state.dead_letter_count > 0]];
  $("counts").replaceChildren(...counts.map(([value, name, bad]) => {
    const item = element("li", undefined, bad ? "bad" : ""); item.append(element("b", String(value)), element("span", name)); return item;
  }));
  const count = (shown, all) => (all > shown ? `${shown} of ${all}` : String(all));
  $("running-count").textContent = count(running.length, sum("running") + sum("leased"));
  fill("running", running.map((job) => {
    const ran = state.now - job.started, bar = document.createElement("progress");
    bar.max = Math.max(job.estimate_ms, 1); bar.value = Math.min(ran, bar.max);
    bar.setAttribute("aria-label", `about ${Math.round(100 * bar.value / bar.max)} % of the usual time`);
    bar.title = "usually " + span(job.estimate_ms);
    return [idLink(job.id), jobLink(job), classCell(job), bar, span(ran), deadlineCell(job), cancel(job)];
  }), [4, 5], "Nothing runs.");

  ready.sort((a, b) => b.score - a.score || a.id - b.id);
  $("queue-count").textContent = count(ready.length, sum("ready"));
  fill("queue", ready.map((job) => [idLink(job.id), jobLink(job), classCell(job), points(job.score), span(state.now - job.submitted), cancel(job)]), [3, 4], "Nobody waits for a worker.");

  fill("deadlines", due.slice(0, 50).map((job) => [idLink(job.id), jobLink(job), statusCell(job.status), deadlineCell(job),
    job.status === "running" || job.latest_start === null ? "" : job.latest_start < state.now ? element("span", "gone by", "late") : "in " + span(job.latest_start - state.now)]), [3, 4], "No live job has a deadline.");

  $("waiting-count").textContent = String(sum("waiting") - sum("ready"));
  fill("waiting", waiting.map((job) => [idLink(job.id), jobLink(job), statusCell(job.status), job.due === null ? "" : "in " + span(job.due - state.now), cancel(job)]), [3], "Nothing is blocked, scheduled or retrying.");

  fill("decisions", state.decisions.slice(0, 50).map((one) => {
    const winner = one.winner, next = one.runner_up, rule = next ? element("button", one.rule.replace("_", " "), "link") : element("span", one.rule.replace("_", " "));
    if (next) { rule.setAttribute("aria-label", `Why ${winner.id} before ${next.id}`); rule.onclick = () => explain(winner.id, next.id); }
    return [clock(one.at), idLink(winner.id), terms(winner), next ? idLink(next.id) : "", next ? terms(next) : "", rule];
  }), [2, 4], "None yet.");

  fill("recent", state.recent.map((job) => [idLink(job.id), jobLink(job), classCell(job), statusCell(job.status),
    job.started === null ? "" : span(job.started - job.submitted), job.started === null ? "" : span(job.ended - job.started), String(job.attempts),
    job.late_ms === undefined ? "" : job.late_ms > 0 ? element("span", "missed by " + span(job.late_ms), "late") : "met",
    clock(job.ended)]), [4, 5, 6, 8], "Nothing has ended yet.");

  $("letters-section").hidden = state.dead_letter_count === 0;
  $("letters-count").textContent = count(state.dead_letters.length, state.dead_letter_count);
  fill("letters", state.dead_letters.map((job) => [idLink(job.id), jobLink(job), String(job.attempts), job.output.split("\n")[0],
    button("Resubmit", `Resubmit job ${job.id}`, () => call("POST", `/api/dead-letters/${job.id}/resubmit`))]), [2], "");
  $("recurring-section").hidden = state.recurring.length === 0;
  fill("recurring", state.recurring.map((one) => [one.name, one.cron ? `${one.cron} ${one.zone || "UTC"}` : "every " + one.every,
    one.next === null ? "never" : "in " + span(Math.max(0, one.next - state.now)), String(one.skipped), one.command,
    button("Stop", `Stop ${one.name}`, () => call("DELETE", "/api/recurring/" + encodeURIComponent(one.name)))]), [2, 3], "");
}
function terms(one) {
  const made = element("span", points(one.score));
  made.title = `base ${points(one.base)} + waiting ${points(one.aging)} + urgency ${points(one.urgency)}`;
  return made;
}

// ---- acts
// A status that is read aloud: only when it changes.
function tell(text) { if ($("connection-text").textContent !== text) $("connection-text").textContent = text; }
async function open(id) {
  let job;
  try { job = await call("GET", "/api/jobs/" + id); } catch (error) { return tell(error.message); }
  $("job-title").textContent = `${job.id}: ${job.name}`;
  const facts = [["status", job.status.replace("_", " ")], ["class", job.priority], ["kind", job.kind], ["key", job.key], ["tenant", job.tenant], ["tries", job.attempts],
    ["usually takes", span(job.estimate_ms)], ["submitted", new Date(job.submitted).toLocaleString()], ["started", job.started && new Date(job.started).toLocaleString()],
    ["ended", job.ended && new Date(job.ended).toLocaleString()], ["deadline", job.deadline && new Date(job.deadline).toLocaleString()]];
  $("job-facts").replaceChildren(...facts.filter(([, value]) => value !== null && value !== "").flatMap(([name, value]) => [element("dt", name), element("dd", String(value))]));
  $("job-command").textContent = job.command;
  $("job-output").textContent = job.output || "none";
  if (!$("job").open) $("job").showModal();
}
async function explain(earlier, later) {
  $("why-earlier").value = earlier; $("why-later").value = later;
  try {
    $("why-answer").textContent = (await call("GET", `/api/explain?earlier=${encodeURIComponent(earlier)}&later=${encodeURIComponent(later)}`)).text;
  } catch (error) { $("why-answer").textContent = error.message; }
}
$("why").onsubmit = (e) => { e.preventDefault(); explain($("why-earlier").value, $("why-later").value); };
$("drain").onclick = async () => {
  if (!confirm("Forget all dead letters?")) return;
  try { await call("DELETE", "/api/dead-letters"); } catch (error) { tell(error.message); }
  look();
};
$("submit").onsubmit = async (e) => {
  e.preventDefault();
  const job = {}, answer = $("submit-answer");
  for (const [name, value] of new FormData(e.target)) if (value.trim()) job[name] = value.trim();
  if (job.retries) job.retries = Number(job.retries);
  if (job.after) job.after = job.after.split(",").map((one) => one.trim()).filter(Boolean).map((one) => (/^\d+$/.test(one) ? Number(one) : one));
  try {
    const made = await call("POST", "/api/jobs", job);
    answer.textContent = made.existed ? `Job ${made.id} has this key already.` : `Job ${made.id} is accepted.`;
    answer.className = "";
  } catch (error) { answer.textContent = error.message; answer.className = "problem"; }
  look();
};
$("pause").onclick = () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", paused); $("pause").textContent = paused ? "Go on" : "Pause";
  if (!paused) look(); else { clearTimeout(timer); tell("paused"); $("connection").className = ""; }
};
$("theme").onclick = () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
$("token-form").onsubmit = (e) => { e.preventDefault(); token = $("token").value; sessionStorage.setItem("token", token); look(); };

// ---- looking, one look at a time
let looking = false;
async function look() {
  if (looking) return;
  looking = true;
  clearTimeout(timer);
  try {
    state = await call("GET", "/api/state");
    $("token-form").hidden = true; $("live").hidden = false;
    $("connection").className = "live"; tell("live");
    $("as-of").textContent = "as of " + clock(state.now);
    show();
  } catch (error) {
    $("connection").className = "broken";
    if (error.status === 401) {
      $("live").hidden = true; $("token-form").hidden = false;
      $("token-error").textContent = token ? "This is not the token." : "";
      tell("a token is needed");
    } else tell(error.status ? error.message : "no answer; trying again");
  }
  looking = false;
  if (!paused && !document.hidden && $("token-form").hidden) timer = setTimeout(look, every);
}
document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) look(); });
look();
