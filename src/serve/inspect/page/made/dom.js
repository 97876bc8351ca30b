// Makes elements. Whatever the server sends becomes a text node or the value of a harmless attribute, never markup.
/** Attributes that can neither run nor load anything. */
const HARMLESS = ["class", "id", "role", "title", "type", "tabindex", "datetime"];
function isHarmless(name) {
    return HARMLESS.includes(name) || /^(data|aria)-[a-z-]+$/.test(name);
}
export function setAttributes(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
        if (!isHarmless(name))
            throw new Error(`${name} is no attribute of this page`);
        if (value === null || value === undefined || value === false)
            element.removeAttribute(name);
        else
            element.setAttribute(name, value === true ? "" : String(value));
    }
}
export function el(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    setAttributes(made, attributes);
    for (const child of children)
        if (child)
            made.append(child);
    return made;
}
/** An element of index.html. */
export function byId(id) {
    const found = document.getElementById(id);
    if (!found)
        throw new Error(`index.html has no #${id}`);
    return found;
}
export function button(label, attributes, act) {
    const made = el("button", { type: "button", ...attributes }, label);
    made.addEventListener("click", act);
    return made;
}
/** A button that is pressed or not. */
export function toggle(label, attributes, pressed, act) {
    const made = el("button", { type: "button", "aria-pressed": String(pressed), ...attributes }, ...label);
    made.addEventListener("click", () => {
        const now = made.getAttribute("aria-pressed") !== "true";
        made.setAttribute("aria-pressed", String(now));
        act(now);
    });
    return made;
}
/** What stands where there is nothing to show. */
export function emptyState(title, ...more) {
    return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), ...more.map((one) => one && el("p", {}, one)));
}
/** Names and values, side by side. */
export function facts(rows) {
    const list = el("dl", { class: "facts" });
    for (const [name, value] of rows)
        if (value)
            list.append(el("dt", {}, name), el("dd", {}, value));
    return list;
}
