// What a tab of a turn gets, and how it says what is pointed at.
import type { Turn, TurnLine } from "./data.js";

export interface ViewContext {
  /** Is aborted when something else is shown. */
  signal: AbortSignal;
  /** Says what is pointed at; nothing: empty. */
  detail(...parts: string[]): void;
  /** Another turn of the session, by its number; null: it is not kept any more. */
  other(number: number): Promise<Turn | null>;
  /** The turns of the session. */
  lines: TurnLine[];
  /** Shows the prompt at this byte. */
  goToByte(byte: number): void;
  /** The byte to show, if the tab was opened for one. */
  byte: number | null;
}

export type View = (turn: Turn, context: ViewContext) => HTMLElement;

/** Lets people point at the elements of a box, by pointer or by arrow keys; `say` gets the one that is pointed at. */
export function pointable(box: HTMLElement, selector: string, context: ViewContext, say: (element: HTMLElement) => void): void {
  let at: HTMLElement | null = null;
  const point = (element: HTMLElement | null): void => {
    at?.classList.remove("pointed");
    at = element;
    if (!element) return context.detail();
    element.classList.add("pointed");
    say(element);
  };
  box.addEventListener("pointerover", (event) => {
    const element = (event.target as Element).closest<HTMLElement>(selector);
    if (element && box.contains(element)) point(element);
  });
  box.addEventListener("focus", () => at ?? point(box.querySelector<HTMLElement>(selector)));
  box.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = neighbour(box, at, selector, step);
    if (!next) return;
    point(next);
    next.scrollIntoView({ block: "nearest" });
  });
}

function neighbour(box: HTMLElement, from: HTMLElement | null, selector: string, step: number): HTMLElement | null {
  if (!from) return box.querySelector<HTMLElement>(selector);
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT, (node) =>
    (node as Element).matches(selector) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP,
  );
  walker.currentNode = from;
  return (step > 0 ? walker.nextNode() : walker.previousNode()) as HTMLElement | null;
}
