// A list to choose from: it keeps its rows' elements while their data change, and moves by the keyboard.
import { el, setAttributes } from "./dom.js";

export interface ListOptions<Item> {
  label: string;
  key(item: Item): string;
  /** Fills a row, which may have been filled before. */
  fill(row: HTMLElement, item: Item): void;
  /** An item was pointed at or moved to. */
  choose(item: Item): void;
  /** Goes on into what was chosen. */
  enter(): void;
}

const PAGE = 10;

export class List<Item> {
  readonly element: HTMLElement;
  private readonly rows = new Map<string, HTMLElement>();
  private items: Item[] = [];
  private chosen: string | null = null;

  constructor(private readonly options: ListOptions<Item>) {
    this.element = el("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": options.label });
    this.element.addEventListener("click", (event) => this.pointed(event));
    this.element.addEventListener("keydown", (event) => this.pressed(event));
  }

  update(items: Item[], chosen: string | null): void {
    this.items = items;
    this.chosen = chosen;
    const wanted = new Set(items.map((item) => this.options.key(item)));
    for (const [key, row] of this.rows) {
      if (wanted.has(key)) continue;
      row.remove();
      this.rows.delete(key);
    }
    let next = this.element.firstElementChild;
    for (const item of items) {
      const row = this.rowOf(item);
      if (row === next) next = row.nextElementSibling;
      else this.element.insertBefore(row, next);
    }
    const active = chosen === null ? undefined : this.rows.get(chosen);
    setAttributes(this.element, { "aria-activedescendant": active?.id });
  }

  /** Moves by so many rows, from the first one where none is chosen. */
  move(by: number): void {
    const at = this.items.findIndex((item) => this.options.key(item) === this.chosen);
    const to = at < 0 ? 0 : Math.min(this.items.length - 1, Math.max(0, at + by));
    const item = this.items[to];
    if (item === undefined || to === at) return;
    this.options.choose(item);
    this.rows.get(this.options.key(item))?.scrollIntoView({ block: "nearest" });
  }

  private rowOf(item: Item): HTMLElement {
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

  private pointed(event: Event): void {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    const item = this.items.find((one) => this.options.key(one) === row?.dataset["key"]);
    if (item === undefined) return;
    this.options.choose(item);
    this.options.enter();
  }

  private pressed(event: KeyboardEvent): void {
    const steps: Record<string, number> = { PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity };
    const by = steps[event.key];
    if (event.key === "Enter") this.options.enter();
    else if (by !== undefined) this.move(by);
    else return;
    event.preventDefault();
  }
}
