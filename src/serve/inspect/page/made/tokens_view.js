// Tokens as boxes: those of the prompt, and those that were sampled, by what training learns of them.
import { chunk, fill } from "./chunks.js";
import { el, emptyState, toggle } from "./dom.js";
import { HUES, originOf } from "./prompt_view.js";
import { count, counted, hexBytes, visible } from "./text.js";
import { pointable } from "./view.js";
const BOXES = 400; // of a chunk
const PER_LINE = 12;
function* boxes(tokens, of, classOf) {
    for (let first = 0; first < tokens.length; first += BOXES) {
        const some = tokens.slice(first, first + BOXES);
        const made = chunk(some.length / PER_LINE + some.filter((token) => token.text.includes("\n")).length, "boxes");
        some.forEach((token, at) => {
            const number = first + at;
            const text = token.bytes ? hexBytes(token.bytes) : visible(token.text);
            const box = el("span", { class: `token ${token.bytes ? "half " : ""}${classOf(token, number)}`, "data-id": token.id }, text);
            of.set(box, number);
            made.append(box);
            if (token.text.includes("\n"))
                made.append(el("br"));
        });
        yield made;
    }
}
/** The span of each token's first byte. None, if the tokens' bytes are not the prompt's. */
function spansOf(turn) {
    const { spans, tokens } = turn;
    if (spans.at(-1)?.end !== tokens.at(-1)?.end)
        return [];
    const found = [];
    let at = 0;
    for (const token of tokens) {
        while (at + 1 < spans.length && (spans[at]?.end ?? 0) <= token.begin)
            ++at;
        const span = spans[at];
        if (span)
            found.push(span);
    }
    return found;
}
function sayToken(token, number, context, ...more) {
    const text = token.bytes ? `bytes ${hexBytes(token.bytes)}` : JSON.stringify(token.text);
    const control = token.control ? ["control token"] : [];
    const place = `bytes ${count(token.begin)}–${count(token.end)}`;
    context.detail(`token ${count(number)}`, `id ${token.id}`, text, ...control, ...more, place);
}
function idsToggle(box) {
    return toggle(["ids"], { class: "choice" }, false, (pressed) => void box.classList.toggle("with-ids", pressed));
}
function figure(name, value, kind = "") {
    return el("span", { class: `figure ${kind}` }, el("b", {}, count(value)), ` ${name}`);
}
export const tokensView = (turn, context) => {
    if (turn.tokens.length === 0)
        return emptyState("No tokens");
    const box = el("div", {
        class: "tokens mono",
        tabindex: 0,
        role: "document",
        "aria-label": "The prompt's tokens. Left and right go through them.",
    });
    const of = new Map();
    const spans = spansOf(turn);
    const classOf = (token, number) => `${token.reused ? "reused" : "new"}${token.control ? " is-control" : ""} from-${spans[number]?.hue ?? "literal"}`;
    pointable(box, ".token", context, (element) => {
        const number = of.get(element) ?? 0;
        const token = turn.tokens[number];
        const span = spans[number];
        if (!token)
            return;
        const origin = span ? [`${HUES[span.hue] ?? span.hue}: ${originOf(span)}`] : [];
        sayToken(token, number, context, token.reused ? "of the turn before" : "new", ...origin);
    });
    void fill(box, boxes(turn.tokens, of, classOf), context.signal);
    const controls = turn.tokens.filter((token) => token.control).length;
    const bar = el("div", { class: "toolbar" }, figure("tokens", turn.tokens.length), figure("control", controls, "key-control"), figure("of the turn before", turn.reused, "key-reused"), figure("new", turn.tokens.length - turn.reused), idsToggle(box));
    return el("div", { class: "view" }, bar, box);
};
const KINDS = ["reasoning", "content", "calls", "marker", "stop"];
function learnt(tokens, off) {
    return tokens.filter((token) => !off.has(token.kind)).length;
}
function sentence(turn, off) {
    const prompt = `of the ${counted(turn.prompt_tokens, "token")} of the prompt, none`;
    if (turn.status !== "answered")
        return `Training learns nothing of this turn: it was not answered (${turn.status}).`;
    return `Training learns ${counted(learnt(turn.sampled_tokens, off), "sampled token")} of ${count(turn.sampled)}; ${prompt}.`;
}
export const masksView = (turn, context) => {
    const tokens = turn.sampled_tokens;
    if (tokens.length === 0) {
        const why = turn.status === "answered"
            ? "The engine gives text alone, without ids: there is nothing that training could learn."
            : `The turn was not answered: ${turn.status}.`;
        return emptyState("No sampled tokens", why);
    }
    const box = el("div", {
        class: "tokens masks mono",
        tabindex: 0,
        role: "document",
        "aria-label": "The sampled tokens. Left and right go through them.",
    });
    const of = new Map();
    const off = new Set();
    const said = el("p", { class: "said", "aria-live": "polite" }, sentence(turn, off));
    const kinds = el("div", { class: "legend", role: "group", "aria-label": "Kinds that training learns" });
    for (const kind of KINDS) {
        const many = tokens.filter((token) => token.kind === kind).length;
        if (many === 0)
            continue;
        const swatch = el("span", { class: `swatch kind-${kind}`, "aria-hidden": "true" }, "Aa");
        kinds.append(toggle([swatch, `${kind} `, el("b", {}, count(many))], {}, true, (pressed) => {
            if (pressed)
                off.delete(kind);
            else
                off.add(kind);
            box.classList.toggle(`off-${kind}`, !pressed);
            said.textContent = sentence(turn, off);
        }));
    }
    pointable(box, ".token", context, (element) => {
        const number = of.get(element) ?? 0;
        const token = tokens[number];
        if (!token)
            return;
        const logprob = token.logprob === undefined ? [] : [`logprob ${token.logprob.toFixed(3)}`];
        sayToken(token, number, context, token.kind, ...logprob);
    });
    const classOf = (token) => `kind-${KINDS.includes(token.kind) ? token.kind : "marker"}${token.control ? " is-control" : ""}`;
    void fill(box, boxes(tokens, of, classOf), context.signal);
    return el("div", { class: "view" }, el("div", { class: "toolbar" }, kinds, idsToggle(box)), said, box);
};
