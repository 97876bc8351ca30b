import { byId, el, emptyState } from "./dom.js";
import { grammarView, guardedView } from "./other_views.js";
import { prefixView } from "./prefix_view.js";
import { promptView } from "./prompt_view.js";
import { eventsView, liveEvents, liveReply, replyView } from "./reply_view.js";
import { TABS } from "./route.js";
import { clock, count, duration } from "./text.js";
import { masksView, tokensView } from "./tokens_view.js";
const VIEWS = {
    prompt: promptView,
    tokens: tokensView,
    masks: masksView,
    reply: replyView,
    events: eventsView,
    grammar: grammarView,
    prefix: prefixView,
    guarded: guardedView,
};
/** What stands beside the name of a tab. */
function noteOf(tab, turn) {
    const notes = {
        tokens: count(turn.tokens.length),
        masks: count(turn.sampled_tokens.length),
        events: count(turn.events.length),
        prefix: turn.prefix_break ? "broke" : "",
        guarded: turn.guarded.length > 0 ? count(turn.guarded.length) : "",
        reply: turn.reply.diagnostics.length > 0 ? count(turn.reply.diagnostics.length) : "",
    };
    return notes[tab] ?? "";
}
function isEmpty(tab, turn) {
    if (tab === "grammar")
        return turn.grammar === null;
    return tab === "guarded" && turn.guarded.length === 0;
}
export class TurnView {
    host;
    head = byId("turn-head");
    tabs = byId("tabs");
    panel = byId("panel");
    detail = byId("detail");
    buttons = new Map();
    stop = new AbortController();
    live = null;
    byte = null;
    constructor(host) {
        this.host = host;
        TABS.forEach((tab, at) => {
            const made = el("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "panel", title: `${tab} (${at + 1})` });
            made.addEventListener("click", () => host.chooseTab(tab));
            this.buttons.set(tab, made);
            this.tabs.append(made);
        });
        this.tabs.addEventListener("keydown", (event) => this.betweenTabs(event));
    }
    /** Something in place of a turn. */
    showInstead(what) {
        this.begin();
        this.head.replaceChildren();
        this.tabs.hidden = true;
        this.panel.replaceChildren(what ?? "");
    }
    show(turn, tab) {
        this.begin();
        this.head.replaceChildren(...headOf(turn));
        this.showTabs(tab, turn);
        const context = {
            signal: this.stop.signal,
            detail: (...parts) => this.say(parts),
            other: (number) => this.host.other(number),
            lines: this.host.lines(),
            goToByte: (byte) => {
                this.byte = byte;
                this.host.chooseTab("prompt");
            },
            byte: this.byte,
        };
        this.byte = null;
        this.panel.replaceChildren(VIEWS[tab](turn, context));
    }
    showLive(turn, tab) {
        this.begin();
        this.head.replaceChildren(el("div", { class: "turn-title" }, el("h2", {}, el("span", { class: "live-dot" }), "Under way"), el("span", { class: "muted" }, [turn.api, turn.time && clock(turn.time)].filter(Boolean).join(" · "))));
        this.showTabs(tab, null);
        if (tab !== "reply" && tab !== "events") {
            this.panel.replaceChildren(emptyState("This turn is under way", "Reply and events are shown while they come, the rest once it has ended."));
            return;
        }
        const view = tab === "reply" ? liveReply() : liveEvents();
        this.panel.replaceChildren(view.element);
        this.live = { turn, take: () => view.take(turn.events) };
        this.live.take();
    }
    /** Events of turns under way have come. */
    liveChanged() {
        this.live?.take();
    }
    focus() {
        const inside = this.panel.querySelector("[tabindex='0']");
        (inside ?? this.panel).focus({ preventScroll: true });
    }
    begin() {
        this.stop.abort();
        this.stop = new AbortController();
        this.live = null;
        this.say([]);
    }
    say(parts) {
        this.detail.replaceChildren(...parts.map((part) => el("span", {}, part)));
    }
    showTabs(chosen, turn) {
        this.tabs.hidden = false;
        for (const [tab, button] of this.buttons) {
            const note = turn ? noteOf(tab, turn) : "";
            button.replaceChildren(tab[0]?.toUpperCase() + tab.slice(1), note && el("span", { class: "note" }, note));
            button.setAttribute("aria-selected", String(tab === chosen));
            button.tabIndex = tab === chosen ? 0 : -1;
            button.classList.toggle("is-empty", turn !== null && isEmpty(tab, turn));
            button.classList.toggle("is-wrong", turn !== null && ((tab === "prefix" && turn.prefix_break !== null) || (tab === "reply" && note !== "")));
        }
        this.panel.setAttribute("aria-labelledby", `tab-${chosen}`);
    }
    betweenTabs(event) {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0)
            return;
        event.preventDefault();
        const at = TABS.findIndex((tab) => this.buttons.get(tab)?.getAttribute("aria-selected") === "true");
        const to = TABS[(at + step + TABS.length) % TABS.length];
        this.host.chooseTab(to);
        this.buttons.get(to)?.focus();
    }
}
function headOf(turn) {
    const choice = turn.choice > 0 ? `, choice ${turn.choice}` : "";
    const about = [turn.api, clock(turn.time), duration(turn.milliseconds)].join(" · ");
    const figure = (name, value, kind = "") => el("div", { class: `stat ${kind}` }, el("dt", {}, name), el("dd", {}, value));
    const ended = turn.status === "answered" ? turn.finish_reason || "–" : turn.status.replaceAll("_", " ");
    return [
        el("div", { class: "turn-title" }, el("h2", {}, `Turn ${turn.turn}${choice}`), el("span", { class: "muted" }, about), el("code", { class: "muted answer", title: turn.answer }, turn.answer)),
        el("dl", { class: "stats" }, figure("prompt", count(turn.prompt_tokens)), figure("reused", count(turn.reused)), figure("evaluated", turn.evaluated === null ? "–" : count(turn.evaluated)), figure("sampled", count(turn.sampled)), figure("ended by", ended, turn.status === "answered" ? "words" : "words wrong-text")),
    ];
}
