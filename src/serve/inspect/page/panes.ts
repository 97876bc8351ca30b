// The three panes: which of them has the focus, and which one a narrow screen shows.
import { byId } from "./dom.js";

export type Pane = "sessions" | "turns" | "turn";

export class Panes {
  /** `focus`: gives a pane the focus. */
  constructor(private readonly focus: Record<Pane, () => void>) {}

  /** The pane that has the focus; where none has it, the first one. */
  get active(): Pane {
    if (byId("turn-pane").contains(document.activeElement)) return "turn";
    return byId("turns-pane").contains(document.activeElement) ? "turns" : "sessions";
  }

  enter(pane: Pane): void {
    document.body.dataset["pane"] = pane;
    this.focus[pane]();
  }

  back(): void {
    const inTurn = this.active === "turn" || document.body.dataset["pane"] === "turn";
    this.enter(inTurn ? "turns" : "sessions");
  }
}
