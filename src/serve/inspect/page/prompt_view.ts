// The prompt, each part in the colour of its origin: the classes are those of the page that `parlance render --html` writes.
import { fill, type Piece, textChunks } from "./chunks.js";
import type { Span, Turn } from "./data.js";
import { el, emptyState, toggle } from "./dom.js";
import { byteLength, count, counted, indexOfByte } from "./text.js";
import { pointable, type View, type ViewContext } from "./view.js";

export const HUES: Record<string, string> = {
  literal: "template",
  control: "control token",
  system: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  variable: "other input",
  computed: "computed",
};

interface Shown {
  span: Span;
  begin: number;
  end: number;
}

/** What a reader is told of a span. */
export function originOf(span: Span): string {
  if (span.line !== undefined) return `template, line ${span.line}, column ${span.column ?? 1}`;
  if (!span.path) return span.origin;
  return span.origin === "derived" ? `derived from ${span.path}` : `${span.origin}: ${span.path}`;
}

/** Where the prompt is cut, and what is said there. */
function cutsOf(turn: Turn): Map<number, string> {
  const cuts = new Map<number, string>();
  const byteOf = (token: number): number | undefined => turn.tokens[token]?.begin;
  const broken = turn.prefix_break;
  const at = broken ? byteOf(broken.kept) : turn.reused > 0 ? byteOf(turn.reused) : undefined;
  if (at !== undefined) cuts.set(at, broken ? "the prefix broke here" : "new from here");
  return cuts;
}

function* pieces(turn: Turn, shown: Map<Element, Shown>): Generator<Piece> {
  const cuts = cutsOf(turn);
  for (const span of turn.spans) {
    let text = span.text;
    let begin = span.begin;
    let said: string | undefined;
    const inside = [...cuts].filter(([at]) => at >= span.begin && at < span.end).sort(([a], [b]) => a - b);
    for (const [at, what] of inside) {
      const cut = indexOfByte(text, at - begin);
      if (cut > 0) yield pieceOf(span, text.slice(0, cut), begin, said, shown);
      text = text.slice(cut);
      begin = at;
      said = what;
    }
    yield pieceOf(span, text, begin, said, shown);
  }
}

function pieceOf(span: Span, text: string, begin: number, said: string | undefined, shown: Map<Element, Shown>): Piece {
  let at = begin;
  const kind = `piece ${HUES[span.hue] ? span.hue : "literal"}${span.origin === "derived" ? " derived" : ""}`;
  const make = (part: string): HTMLElement => {
    const made = el("span", { class: kind, "data-cut": at === begin ? said : undefined }, part);
    const size = part === span.text ? span.end - span.begin : byteLength(part);
    shown.set(made, { span, begin: at, end: at + size });
    at += size;
    return made;
  };
  return { text, make };
}

function legend(turn: Turn, box: HTMLElement): HTMLElement {
  const bytes = new Map<string, number>();
  let derived = false;
  for (const span of turn.spans) {
    bytes.set(span.hue, (bytes.get(span.hue) ?? 0) + span.end - span.begin);
    derived = derived || span.origin === "derived";
  }
  const made = el("div", { class: "legend", role: "group", "aria-label": "Origins that are coloured" });
  for (const [hue, name] of Object.entries(HUES)) {
    const size = bytes.get(hue);
    if (size === undefined) continue;
    const swatch = el("span", { class: `swatch ${hue}`, "aria-hidden": "true" }, "Aa");
    const act = (pressed: boolean): void => void box.classList.toggle(`off-${hue}`, !pressed);
    made.append(toggle([swatch, name], { title: `${counted(size, "byte")} of the prompt` }, true, act));
  }
  if (derived) made.append(el("span", { class: "legend-note" }, el("span", { class: "derived" }, "underlined"), ": derived"));
  return made;
}

async function show(box: HTMLElement, turn: Turn, context: ViewContext, shown: Map<Element, Shown>): Promise<void> {
  await fill(box, textChunks(pieces(turn, shown)), context.signal);
  const byte = context.byte;
  if (byte === null || context.signal.aborted) return;
  for (const [element, { begin, end }] of shown) {
    if (byte < begin || byte >= end) continue;
    element.classList.add("sought");
    element.scrollIntoView({ block: "center" });
    return;
  }
}

export const promptView: View = (turn, context) => {
  if (turn.spans.length === 0) return emptyState("No prompt to show", "The template fails to render it once more.");
  const box = el("div", {
    class: "prompt mono",
    tabindex: 0,
    role: "document",
    "aria-label": "The prompt. Left and right go through its parts.",
  });
  const shown = new Map<Element, Shown>();
  pointable(box, ".piece", context, (element) => {
    const one = shown.get(element);
    if (!one) return;
    const of = one.span.message === undefined ? [] : [`message ${one.span.message}`];
    context.detail(HUES[one.span.hue] ?? one.span.hue, originOf(one.span), ...of, `bytes ${count(one.begin)}–${count(one.end)}`);
  });
  void show(box, turn, context, shown);
  return el("div", { class: "view" }, legend(turn, box), box);
};
