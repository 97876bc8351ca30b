// The three panes: which of them has the focus, and which one a narrow screen shows.
import { byId } from "./dom.js";
export class Panes {
    focus;
    /** `focus`: gives a pane the focus. */
    constructor(focus) {
        this.focus = focus;
    }
    /** The pane that has the focus; where none has it, the first one. */
    get active() {
        if (byId("turn-pane").contains(document.activeElement))
            return "turn";
        return byId("turns-pane").contains(document.activeElement) ? "turns" : "sessions";
    }
    enter(pane) {
        document.body.dataset["pane"] = pane;
        this.focus[pane]();
    }
    back() {
        const inTurn = this.active === "turn" || document.body.dataset["pane"] === "turn";
        this.enter(inTurn ? "turns" : "sessions");
    }
}
