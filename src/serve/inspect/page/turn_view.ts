// The chosen turn: its figures, its tabs, and the view of the tab.
import type { Turn, TurnLine } from "./data.js";
import { byId, el, emptyState } from "./dom.js";
import { grammarView, guardedView } from "./other_views.js";
import { prefixView } from "./prefix_view.js";
import { promptView } from "./prompt_view.js";
import { eventsView, liveEvents, liveReply, replyView } from "./reply_view.js";
import { type Tab, TABS } from "./route.js";
import type { LiveTurn } from "./store.js";
import { clock, count, duration } from "./text.js";
import { masksView, tokensView } from "./tokens_view.js";
import type { View, ViewContext } from "./view.js";

const VIEWS: Record<Tab, View> = {
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
function noteOf(tab: Tab, turn: Turn): string {
  const notes: Partial<Record<Tab, string>> = {
    tokens: count(turn.tokens.length),
    masks: count(turn.sampled_tokens.length),
    events: count(turn.events.length),
    prefix: turn.prefix_break ? "broke" : "",
    guarded: turn.guarded.length > 0 ? count(turn.guarded.length) : "",
    reply: turn.reply.diagnostics.length > 0 ? count(turn.reply.diagnostics.length) : "",
  };
  return notes[tab] ?? "";
}

function isEmpty(tab: Tab, turn: Turn): boolean {
  if (tab === "grammar") return turn.grammar === null;
  return tab === "guarded" && turn.guarded.length === 0;
}

export interface TurnHost {
  chooseTab(tab: Tab): void;
  other(number: number): Promise<Turn | null>;
  lines(): TurnLine[];
}

export class TurnView {
  private readonly head = byId("turn-head");
  private readonly tabs = byId("tabs");
  private readonly panel = byId("panel");
  private readonly detail = byId("detail");
  private readonly buttons = new Map<Tab, HTMLButtonElement>();
  private stop = new AbortController();
  private live: { turn: LiveTurn; take(): void } | null = null;
  private byte: number | null = null;

  constructor(private readonly host: TurnHost) {
    TABS.forEach((tab, at) => {
      const made = el("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "panel", title: `${tab} (${at + 1})` });
      made.addEventListener("click", () => host.chooseTab(tab));
      this.buttons.set(tab, made);
      this.tabs.append(made);
    });
    this.tabs.addEventListener("keydown", (event) => this.betweenTabs(event));
  }

  /** Something in place of a turn. */
  showInstead(what: HTMLElement | null): void {
    this.begin();
    this.head.replaceChildren();
    this.tabs.hidden = true;
    this.panel.replaceChildren(what ?? "");
  }

  show(turn: Turn, tab: Tab): void {
    this.begin();
    this.head.replaceChildren(...headOf(turn));
    this.showTabs(tab, turn);
    const context: ViewContext = {
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

  showLive(turn: LiveTurn, tab: Tab): void {
    this.begin();
    this.head.replaceChildren(
      el(
        "div",
        { class: "turn-title" },
        el("h2", {}, el("span", { class: "live-dot" }), "Under way"),
        el("span", { class: "muted" }, [turn.api, turn.time && clock(turn.time)].filter(Boolean).join(" · ")),
      ),
    );
    this.showTabs(tab, null);
    if (tab !== "reply" && tab !== "events") {
      this.panel.replaceChildren(
        emptyState("This turn is under way", "Reply and events are shown while they come, the rest once it has ended."),
      );
      return;
    }
    const view = tab === "reply" ? liveReply() : liveEvents();
    this.panel.replaceChildren(view.element);
    this.live = { turn, take: () => view.take(turn.events) };
    this.live.take();
  }

  /** Events of turns under way have come. */
  liveChanged(): void {
    this.live?.take();
  }

  focus(): void {
    const inside = this.panel.querySelector<HTMLElement>("[tabindex='0']");
    (inside ?? this.panel).focus({ preventScroll: true });
  }

  private begin(): void {
    this.stop.abort();
    this.stop = new AbortController();
    this.live = null;
    this.say([]);
  }

  private say(parts: string[]): void {
    this.detail.replaceChildren(...parts.map((part) => el("span", {}, part)));
  }

  private showTabs(chosen: Tab, turn: Turn | null): void {
    this.tabs.hidden = false;
    for (const [tab, button] of this.buttons) {
      const note = turn ? noteOf(tab, turn) : "";
      button.replaceChildren(tab[0]?.toUpperCase() + tab.slice(1), note && el("span", { class: "note" }, note));
      button.setAttribute("aria-selected", String(tab === chosen));
      button.tabIndex = tab === chosen ? 0 : -1;
      button.classList.toggle("is-empty", turn !== null && isEmpty(tab, turn));
      button.classList.toggle(
        "is-wrong",
        turn !== null && ((tab === "prefix" && turn.prefix_break !== null) || (tab === "reply" && note !== "")),
      );
    }
    this.panel.setAttribute("aria-labelledby", `tab-${chosen}`);
  }

  private betweenTabs(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = TABS.findIndex((tab) => this.buttons.get(tab)?.getAttribute("aria-selected") === "true");
    const to = TABS[(at + step + TABS.length) % TABS.length] as Tab;
    this.host.chooseTab(to);
    this.buttons.get(to)?.focus();
  }
}

function headOf(turn: Turn): HTMLElement[] {
  const choice = turn.choice > 0 ? `, choice ${turn.choice}` : "";
  const about = [turn.api, clock(turn.time), duration(turn.milliseconds)].join(" · ");
  const figure = (name: string, value: string, kind = ""): HTMLElement =>
    el("div", { class: `stat ${kind}` }, el("dt", {}, name), el("dd", {}, value));
  const ended = turn.status === "answered" ? turn.finish_reason || "–" : turn.status.replaceAll("_", " ");
  return [
    el(
      "div",
      { class: "turn-title" },
      el("h2", {}, `Turn ${turn.turn}${choice}`),
      el("span", { class: "muted" }, about),
      el("code", { class: "muted answer", title: turn.answer }, turn.answer),
    ),
    el(
      "dl",
      { class: "stats" },
      figure("prompt", count(turn.prompt_tokens)),
      figure("reused", count(turn.reused)),
      figure("evaluated", turn.evaluated === null ? "–" : count(turn.evaluated)),
      figure("sampled", count(turn.sampled)),
      figure("ended by", ended, turn.status === "answered" ? "words" : "words wrong-text"),
    ),
  ];
}
