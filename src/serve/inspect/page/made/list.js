// A list to choose from: it keeps its rows' elements while their data change, and moves by the keyboard.
import { el, setAttributes } from "./dom.js";
const PAGE = 10;
export class List {
    options;
    element;
    rows = new Map();
    items = [];
    chosen = null;
    constructor(options) {
        this.options = options;
        this.element = el("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": options.label });
        this.element.addEventListener("click", (event) => this.pointed(event));
        this.element.addEventListener("keydown", (event) => this.pressed(event));
    }
    update(items, chosen) {
        this.items = items;
        this.chosen = chosen;
        const wanted = new Set(items.map((item) => this.options.key(item)));
        for (const [key, row] of this.rows) {
            if (wanted.has(key))
                continue;
            row.remove();
            this.rows.delete(key);
        }
        let next = this.element.firstElementChild;
        for (const item of items) {
            const row = this.rowOf(item);
            if (row === next)
                next = row.nextElementSibling;
            else
                this.element.insertBefore(row, next);
        }
        const active = chosen === null ? undefined : this.rows.get(chosen);
        setAttributes(this.element, { "aria-activedescendant": active?.id });
    }
    /** Moves by so many rows, from the first one where none is chosen. */
    move(by) {
        const at = this.items.findIndex((item) => this.options.key(item) === this.chosen);
        const to = at < 0 ? 0 : Math.min(this.items.length - 1, Math.max(0, at + by));
        const item = this.items[to];
        if (item === undefined || to === at)
            return;
        this.options.choose(item);
        this.rows.get(this.options.key(item))?.scrollIntoView({ block: "nearest" });
    }
    rowOf(item) {
        const key = this.options.key(item);
        let row = this.rows.get(key);
        if (!row) {
            row = el("div", { class: "row", role: "option", id: `${this.options.label}-${key}`.replace(/[^\w.-]/g, "_"), "data-key": key });
            this.rows.set(key, row);
        }
        row.setAttribute("aria-selected", String(key === this.chosen));
        this.options.fill(row, item);
        return row;
    }
    pointed(event) {
        const row = event.target.closest(".row");
        const item = this.items.find((one) => this.options.key(one) === row?.dataset["key"]);
        if (item === undefined)
            return;
        this.options.choose(item);
        this.options.enter();
    }
    pressed(event) {
        const steps = { PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity };
        const by = steps[event.key];
        if (event.key === "Enter")
            this.options.enter();
        else if (by !== undefined)
            this.move(by);
        else
            return;
        event.preventDefault();
    }
}
