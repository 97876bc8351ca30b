// The reply: its message, its calls, what was wrong with it. And its events, whole or while they come.
import { chunk, fill, textChunks } from "./chunks.js";
import { el, emptyState, facts } from "./dom.js";
import { count, visible } from "./text.js";
/** A text of any length. */
export function longText(text, signal, kind = "") {
    const box = el("div", { class: `text ${kind}` });
    void fill(box, textChunks([{ text, make: (part) => el("span", {}, part) }]), signal);
    return box;
}
function section(title, ...children) {
    return el("section", { class: "part" }, el("h3", {}, title), ...children);
}
/** JSON that people can read, of a value or of a text that is JSON. */
function pretty(value) {
    if (typeof value !== "string")
        return JSON.stringify(value, null, 2);
    try {
        return JSON.stringify(JSON.parse(value), null, 2);
    }
    catch {
        return value; // not whole: it stays as the model wrote it
    }
}
function textOf(value) {
    return typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value, null, 2);
}
function callCard(call, signal) {
    const name = call.function?.name ?? String(call["name"] ?? "?");
    const given = call.function?.arguments ?? call["arguments"] ?? call["input"] ?? call["custom"];
    const head = el("div", { class: "call-head" }, el("b", { class: "mono" }, name), call.id ? el("span", { class: "muted mono" }, call.id) : null);
    if (call["complete"] === false)
        head.append(el("span", { class: "badge bad" }, "not complete"));
    return el("div", { class: "card" }, head, longText(pretty(given), signal, "mono"));
}
function problem(one) {
    const { kind, fault, ...rest } = one;
    const name = textOf(kind ?? fault ?? "fault").replaceAll("_", " ");
    return el("div", { class: "card problem" }, el("b", {}, name), facts(Object.entries(rest).map(([member, value]) => [member, textOf(value)])));
}
function messageParts(reply, signal) {
    const { message, diagnostics } = reply;
    const reasoning = textOf(message.reasoning_content ?? message["reasoning"]);
    const content = textOf(message.content);
    const calls = message.tool_calls ?? [];
    return [
        reasoning ? section("Reasoning", longText(reasoning, signal, "quiet")) : null,
        content ? section("Content", longText(content, signal)) : null,
        calls.length > 0 ? section("Calls", ...calls.map((call) => callCard(call, signal))) : null,
        diagnostics.length > 0 ? section("What was wrong", ...diagnostics.map(problem)) : null,
        reasoning || content || calls.length > 0 ? null : emptyState("The reply is empty"),
    ];
}
export const replyView = (turn, context) => {
    const raw = el("details", { class: "raw" }, el("summary", {}, "As JSON"));
    raw.addEventListener("toggle", () => {
        if (raw.open && raw.childElementCount === 1)
            raw.append(longText(JSON.stringify(turn.reply, null, 2), context.signal, "mono"));
    });
    const why = turn.error
        ? el("div", { class: "card problem" }, el("b", {}, turn.status.replaceAll("_", " ")), el("p", {}, turn.error))
        : null;
    return el("div", { class: "view scroll" }, why, ...messageParts(turn.reply, context.signal), raw);
};
const PER_CHUNK = 200;
/** Spaces stay spaces; everything else that has no sign gets one. */
function oneLine(text) {
    return text.split(" ").map(visible).join(" ");
}
function eventRow(event) {
    const { type, position, text, source, ...rest } = event;
    const more = Object.entries(rest).map(([member, value]) => `${member}: ${textOf(value)}`);
    const [told] = [text, source].filter((one) => typeof one === "string");
    const said = told === undefined ? more.splice(0).join("   ") : oneLine(told);
    if (typeof text === "string" && typeof source === "string")
        more.push(`source: ${oneLine(source)}`);
    return el("div", { class: `event type-${/^[a-z_]+$/.test(type) ? type : "other"}` }, el("span", { class: "event-at" }, count(position)), el("span", { class: "event-type" }, type.replaceAll("_", " ")), el("span", { class: "event-text mono" }, said), more.length > 0 ? el("span", { class: "event-more mono" }, more.join("   ")) : null);
}
function* eventChunks(events) {
    for (let first = 0; first < events.length; first += PER_CHUNK) {
        const some = events.slice(first, first + PER_CHUNK);
        const made = chunk(some.length);
        made.append(...some.map(eventRow));
        yield made;
    }
}
function eventBox() {
    return el("div", { class: "events", tabindex: 0, role: "log", "aria-label": "Events of the reply: byte, type, text" });
}
export const eventsView = (turn, context) => {
    if (turn.events.length === 0)
        return emptyState("No events", "Nothing of a reply came.");
    const box = eventBox();
    void fill(box, eventChunks(turn.events), context.signal);
    return el("div", { class: "view" }, box);
};
/** Events while they come: `take` adds what is new of the list. It stays at the end unless somebody scrolls up. */
export function liveEvents() {
    const box = eventBox();
    let shown = 0;
    let last = null;
    const take = (events) => {
        const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
        for (; shown < events.length; ++shown) {
            if (last === null || shown % PER_CHUNK === 0)
                box.append((last = el("div", { class: "live-chunk" })));
            last.append(eventRow(events[shown]));
        }
        if (atEnd)
            box.scrollTop = box.scrollHeight;
    };
    return { element: el("div", { class: "view" }, box), take };
}
/** The reply so far, from its events. */
export function liveReply() {
    const reasoning = el("div", { class: "text quiet" });
    const content = el("div", { class: "text" });
    const calls = el("div", {});
    const parts = [section("Reasoning", reasoning), section("Content", content), section("Calls", calls)];
    const arguments_ = new Map();
    let shown = 0;
    const take = (events) => {
        for (; shown < events.length; ++shown) {
            const event = events[shown];
            const text = typeof event["text"] === "string" ? event["text"] : "";
            if (event.type === "reasoning")
                reasoning.append(text);
            if (event.type === "content")
                content.append(text);
            if (event.type === "arguments")
                arguments_.get(event["call"])?.append(text);
            if (event.type === "call_begin") {
                const given = el("div", { class: "text mono" });
                arguments_.set(event["call"], given);
                calls.append(el("div", { class: "card" }, el("div", { class: "call-head" }, el("b", { class: "mono" }, textOf(event["name"]))), given));
            }
        }
        [reasoning, content, calls].forEach((box, at) => (parts[at].hidden = !box.hasChildNodes()));
    };
    take([]);
    return { element: el("div", { class: "view scroll" }, ...parts), take };
}
