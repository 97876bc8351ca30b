// Puts long contents into the page a slice at a time, so that it answers meanwhile. What is out of sight is laid out
// when it comes into sight (content-visibility), but it is there: the browser's own search finds it.
import { el } from "./dom.js";
const SLICE = 8; // milliseconds of work without a break
function pause() {
    return new Promise((resolve) => setTimeout(resolve));
}
/** True once all parts are in; false if it was aborted. */
export async function fill(into, parts, signal) {
    into.setAttribute("aria-busy", "true");
    let begun = performance.now();
    for (const part of parts) {
        if (signal.aborted)
            return false;
        into.append(part);
        if (performance.now() - begun < SLICE)
            continue;
        await pause();
        begun = performance.now();
    }
    into.removeAttribute("aria-busy");
    return !signal.aborted;
}
/** A block of content; `lines` is about how many it has. */
export function chunk(lines, kind = "") {
    const made = el("div", { class: `chunk ${kind}` });
    made.style.containIntrinsicBlockSize = `auto ${Math.max(1, Math.round(lines)) * 21}px`;
    return made;
}
const LINE = 90; // characters that are a line, about
const TEXT = 8_000; // characters of a chunk
const LONGEST = 4 * TEXT; // where there is no newline to end it at
/** Chunks of a text in pieces. They end behind newlines, where an element of its own changes nothing. */
export function* textChunks(pieces) {
    let parts = [];
    let size = 0;
    let newlines = 0;
    const close = () => {
        const made = chunk(newlines + size / LINE);
        made.append(...parts);
        [parts, size, newlines] = [[], 0, 0];
        return made;
    };
    for (const piece of pieces) {
        let rest = piece.text;
        while (rest.length > 0) {
            const cut = cutOf(rest, size);
            const text = rest.slice(0, cut);
            parts.push(piece.make(text));
            size += text.length;
            newlines += text.split("\n").length - 1;
            rest = rest.slice(cut);
            if ((size >= TEXT && text.endsWith("\n")) || size >= LONGEST)
                yield close();
        }
    }
    if (size > 0)
        yield close();
}
/** How much of a text a chunk of this size takes. */
function cutOf(text, size) {
    if (size + text.length <= TEXT)
        return text.length;
    const newline = text.indexOf("\n", Math.max(0, TEXT - size - 1));
    const most = LONGEST - size;
    if (newline >= 0 && newline < most)
        return newline + 1;
    if (text.length <= most)
        return text.length;
    const half = /[\ud800-\udbff]/.test(text[most - 1] ?? ""); // the first half of a character
    return half ? Math.max(1, most - 1) : most;
}
