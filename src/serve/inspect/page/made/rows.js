import { el } from "./dom.js";
import { shareBar } from "./share_bar.js";
import { keyOf } from "./store.js";
import { clock, count, counted, duration, percent } from "./text.js";
export function turnKey(item) {
    return "live" in item ? `live:${keyOf(item.live)}` : String(item.line.number);
}
function badge(text, kind) {
    return el("span", { class: `badge ${kind}` }, text);
}
function liveDot() {
    return el("span", { class: "live-dot", role: "img", "aria-label": "under way" });
}
/** Rows are filled anew only where something has changed. */
const filled = new WeakMap();
function changed(row, state) {
    if (filled.get(row) === state)
        return false;
    filled.set(row, state);
    return true;
}
export function fillSession(row, session) {
    if (!changed(row, JSON.stringify(session)))
        return;
    const reused = session.prompt_tokens - session.evaluated_tokens;
    const badges = [
        session.breaks > 0 && badge(counted(session.breaks, "break"), "warn"),
        session.faults > 0 && badge(counted(session.faults, "fault"), "bad"),
    ];
    row.replaceChildren(el("div", { class: "row-top" }, session.live > 0 && liveDot(), el("b", { class: "name", title: session.session }, session.session), el("time", { datetime: session.last }, clock(session.last))), el("div", { class: "row-line" }, el("span", { class: "muted cut" }, session.model), el("span", { class: "spring" }), ...badges, el("span", { class: "muted" }, counted(session.turns, "turn"))), session.prompt_tokens === 0
        ? ""
        : el("div", { class: "row-line figures", title: "Tokens that the engine evaluated, of those of all prompts" }, shareBar([
            ["reused", Math.max(0, reused), "not evaluated again"],
            ["new", session.evaluated_tokens, "evaluated"],
        ]), el("span", { class: "muted number" }, `${count(session.evaluated_tokens)} of ${count(session.prompt_tokens)} evaluated`)));
}
function liveRow(row, turn) {
    row.classList.add("is-live");
    row.replaceChildren(el("div", { class: "row-top" }, liveDot(), el("b", { class: "name" }, "under way"), turn.time && el("time", { datetime: turn.time }, clock(turn.time))), el("div", { class: "row-line" }, el("span", { class: "muted" }, turn.api)));
}
function statusBadges(line) {
    return [
        line.status !== "answered" && badge(line.status.replaceAll("_", " "), "bad"),
        line.prefix_break !== null && badge("prefix broke", "warn"),
        line.faults > 0 && badge(counted(line.faults, "fault"), "bad"),
        line.grammar && badge("grammar", "plain-badge"),
    ];
}
export function fillTurn(row, item) {
    if ("live" in item) {
        if (changed(row, item.live.time))
            liveRow(row, item.live);
        return;
    }
    const { line } = item;
    if (!changed(row, "turn"))
        return;
    const fresh = line.prompt_tokens - line.reused;
    const calls = line.calls.slice(0, 6).map((name) => el("span", { class: "call mono" }, `${name}()`));
    row.replaceChildren(el("div", { class: "row-top" }, el("b", { class: "name" }, `Turn ${line.turn}${line.choice > 0 ? `, choice ${line.choice}` : ""}`), el("time", { datetime: line.time }, clock(line.time))), shareBar([
        ["reused", line.reused, "of the turn before"],
        ["new", fresh, "new"],
        ["sampled", line.sampled, "sampled"],
    ]), el("div", { class: "row-line figures" }, el("span", { class: "muted number" }, `${count(line.prompt_tokens)} → ${count(line.sampled)}`), el("span", { class: "muted number" }, line.reused > 0 ? `${percent(line.reused, line.prompt_tokens)} reused` : ""), el("span", { class: "spring" }), el("span", { class: "muted number" }, duration(line.milliseconds))), el("div", { class: "row-line said-line" }, ...calls, el("span", { class: "cut" }, line.beginning)), el("div", { class: "row-line badges" }, ...statusBadges(line)));
}
