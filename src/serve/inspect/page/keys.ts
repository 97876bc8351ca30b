// The keyboard. Lists and views have their own arrows; these keys work wherever one is.
import { byId } from "./dom.js";
import { type Tab, TABS } from "./route.js";

export interface KeyActions {
  move(by: number): void;
  enter(): void;
  back(): void;
  tab(tab: Tab): void;
  follow(): void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

export function startKeys(actions: KeyActions): void {
  const help = byId<HTMLDialogElement>("help");
  const filter = byId<HTMLInputElement>("filter");
  byId("help-button").addEventListener("click", () => help.showModal());
  byId("help-close").addEventListener("click", () => help.close());
  const acts: Record<string, () => void> = {
    j: () => actions.move(1),
    k: () => actions.move(-1),
    f: () => actions.follow(),
    Escape: () => actions.back(),
    "/": () => filter.focus(),
    "?": () => help.showModal(),
  };
  TABS.forEach((tab, at) => (acts[String(at + 1)] = () => actions.tab(tab)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    const inList = event.target instanceof Element && event.target.matches(".list");
    const arrow = event.key === "ArrowDown" ? "j" : event.key === "ArrowUp" ? "k" : "";
    const act = acts[inList && arrow ? arrow : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    actions.enter();
  });
}
