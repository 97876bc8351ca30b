/** Lets people point at the elements of a box, by pointer or by arrow keys; `say` gets the one that is pointed at. */
export function pointable(box, selector, context, say) {
    let at = null;
    const point = (element) => {
        at?.classList.remove("pointed");
        at = element;
        if (!element)
            return context.detail();
        element.classList.add("pointed");
        say(element);
    };
    box.addEventListener("pointerover", (event) => {
        const element = event.target.closest(selector);
        if (element && box.contains(element))
            point(element);
    });
    box.addEventListener("focus", () => at ?? point(box.querySelector(selector)));
    box.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0)
            return;
        event.preventDefault();
        event.stopPropagation();
        const next = neighbour(box, at, selector, step);
        if (!next)
            return;
        point(next);
        next.scrollIntoView({ block: "nearest" });
    });
}
function neighbour(box, from, selector, step) {
    if (!from)
        return box.querySelector(selector);
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT, (node) => node.matches(selector) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
    walker.currentNode = from;
    return (step > 0 ? walker.nextNode() : walker.previousNode());
}
