// The grammar that constrained the reply, and what was guarded.
import type { Guarded } from "./data.js";
import { button, el, emptyState } from "./dom.js";
import { longText } from "./reply_view.js";
import { count, counted, visible } from "./text.js";
import type { View, ViewContext } from "./view.js";

export const grammarView: View = (turn, context) => {
  if (turn.grammar === null)
    return emptyState("No grammar", "The reply was not constrained: the request asked neither for calls nor for a form of the content.");
  const box = longText(turn.grammar, context.signal, "mono grammar");
  box.tabIndex = 0;
  const size = el(
    "div",
    { class: "toolbar" },
    el("span", { class: "figure" }, el("b", {}, count(turn.grammar.split("\n").length)), " lines"),
    el("span", { class: "figure" }, el("b", {}, count(turn.grammar.length)), " characters"),
  );
  return el("div", { class: "view" }, size, box);
};

const MOST = 2000; // that are shown

function guardedRow(one: Guarded, context: ViewContext): HTMLElement {
  return el(
    "div",
    { class: "card guarded" },
    el("mark", { class: "mono guard" }, visible(one.text)),
    el("span", {}, "would have been control token ", el("b", {}, String(one.id))),
    el("code", {}, one.path || "unknown place"),
    button("Show it in the prompt", { class: "plain" }, () => context.goToByte(one.begin)),
  );
}

export const guardedView: View = (turn, context) => {
  if (turn.guarded.length === 0) return emptyState("Nothing was guarded", "No content of this prompt looks like a control token.");
  const many = turn.guarded.length;
  const look = many === 1 ? "looks like a control token" : "look like control tokens";
  const lead = `${counted(many, "text")} of the input ${look}. The model got the spelling in its place.`;
  return el(
    "div",
    { class: "view scroll" },
    el("p", { class: "lead" }, lead),
    ...turn.guarded.slice(0, MOST).map((one) => guardedRow(one, context)),
  );
};
