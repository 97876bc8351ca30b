// A bar whose parts are as long as what they stand for.
import { el } from "./dom.js";
import { count } from "./text.js";
/** Parts of a prompt, by the colour of their kind. */
export function shareBar(parts) {
    const whole = parts.reduce((sum, [, size]) => sum + size, 0);
    const bar = el("div", { class: "bar", role: "img", "aria-label": parts.map(([, size, label]) => `${count(size)} ${label}`).join(", ") });
    for (const [kind, size] of parts) {
        if (size === 0)
            continue;
        const part = el("span", { class: `bar-${kind}` });
        part.style.flexGrow = String(size / Math.max(1, whole));
        bar.append(part);
    }
    return bar;
}
