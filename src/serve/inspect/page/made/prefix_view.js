import { button, el, emptyState, facts } from "./dom.js";
import { shareBar } from "./share_bar.js";
import { count, counted, percent, visible } from "./text.js";
const CAUSES = {
    rewritten: "the template writes earlier text otherwise than before",
    other_reply: "the client sent another reply than the model's",
    across_border: "a token spans the border between old and new",
};
const SHOWN = 160; // tokens behind the break
const CONTEXT = 60; // tokens before it
function textOf(tokens) {
    return tokens.map((token) => token.text).join("");
}
/** Which tokens of both stand in the other too, in the same order: their longest common subsequence. */
function common(a, b) {
    const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    const at = (i, j) => longest[i]?.[j] ?? 0;
    const same = (i, j) => a[i]?.id === b[j]?.id;
    for (let i = a.length - 1; i >= 0; --i) {
        const row = longest[i];
        for (let j = b.length - 1; j >= 0; --j)
            row[j] = same(i, j) ? 1 + at(i + 1, j + 1) : Math.max(at(i + 1, j), at(i, j + 1));
    }
    const both = [new Set(), new Set()];
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
        if (same(i, j)) {
            both[0].add(i++);
            both[1].add(j++);
        }
        else if (at(i + 1, j) >= at(i, j + 1))
            ++i;
        else
            ++j;
    }
    return both;
}
/** Texts of runs of tokens, marked where the other has them not. */
function marked(tokens, shared, kind) {
    const made = [];
    for (let first = 0; first < tokens.length;) {
        let end = first + 1;
        while (end < tokens.length && shared.has(end) === shared.has(first))
            ++end;
        const text = textOf(tokens.slice(first, end));
        made.push(shared.has(first) ? el("span", {}, text) : el("mark", { class: kind }, visibleLines(text)));
        first = end;
    }
    return made;
}
function difference(before, now, kept) {
    const [old, fresh] = [before.slice(kept, kept + SHOWN), now.slice(kept, kept + SHOWN)];
    const [inOld, inFresh] = common(old, fresh);
    const context = textOf(before.slice(Math.max(0, kept - CONTEXT), kept));
    const side = (title, parts, more) => {
        const nothing = parts.length === 0 && el("span", { class: "muted" }, "it ends here");
        const rest = more && el("span", { class: "muted" }, " …");
        return el("div", { class: "side" }, el("h4", {}, title), el("div", { class: "text mono" }, el("span", { class: "muted" }, context), ...parts, nothing, rest));
    };
    return el("div", { class: "difference" }, side("The turn before", marked(old, inOld, "lost"), before.length > kept + SHOWN), side("This prompt", marked(fresh, inFresh, "gained"), now.length > kept + SHOWN));
}
/** Newlines stay, with a sign before each. */
function visibleLines(text) {
    return visible(text).replaceAll("·", " ").replaceAll("↵", "↵\n");
}
function sentenceOf(broken) {
    const said = broken.sentence.charAt(0).toUpperCase() + broken.sentence.slice(1);
    return /[.!?]$/.test(said) ? said : `${said}.`;
}
/** The turn whose ids could not be kept: the last one of the right size. */
function turnBefore(turn, broken, context) {
    const size = broken.kept + broken.lost;
    const fits = context.lines.filter((line) => line.number < turn.number && line.prompt_tokens + line.sampled === size);
    return fits.at(-1)?.number ?? turn.number - 1;
}
async function showDifference(into, turn, broken, context) {
    const before = await context.other(turnBefore(turn, broken, context));
    if (context.signal.aborted)
        return;
    if (!before) {
        into.replaceChildren(el("p", { class: "muted" }, "The turn before is not kept any more, so there is nothing to compare with."));
        return;
    }
    const ids = [...before.tokens, ...before.sampled_tokens];
    into.replaceChildren(difference(ids, turn.tokens, broken.kept));
}
function broke(turn, broken, context) {
    const place = turn.tokens[broken.kept]?.begin;
    const compared = el("div", { "aria-live": "polite" }, el("p", { class: "muted" }, "Comparing with the turn before …"));
    void showDifference(compared, turn, broken, context);
    const lost = el("span", {}, el("b", {}, count(broken.lost)), ` of the turn before (${percent(broken.lost, broken.kept + broken.lost)})`);
    return el("div", { class: "view scroll" }, el("p", { class: "lead" }, sentenceOf(broken)), shareBar([
        ["reused", broken.kept, "kept"],
        ["lost", broken.lost, "lost"],
    ]), facts([
        ["cause", CAUSES[broken.cause] ?? broken.cause],
        ["template", broken.template ? el("code", {}, broken.template) : "unknown"],
        ["input", broken.input ? el("code", {}, broken.input) : "none"],
        ["kept", el("span", {}, el("b", {}, count(broken.kept)), ` of the ${counted(turn.prompt_tokens, "token")} of this prompt`)],
        ["lost", lost],
        ["volatile line", broken.volatile_line ? "yes: a line at the head of the conversation changes with each turn" : "no"],
    ]), place === undefined ? null : button("Show it in the prompt", { class: "plain" }, () => context.goToByte(place)), compared);
}
export const prefixView = (turn, context) => {
    if (turn.prefix_break)
        return broke(turn, turn.prefix_break, context);
    const fresh = turn.prompt_tokens - turn.reused;
    if (turn.reused === 0)
        return emptyState("Nothing to keep", "This conversation begins with this turn.");
    return el("div", { class: "view scroll" }, el("p", { class: "lead" }, `The prompt begins with all ${counted(turn.reused, "token")} of the turn before.`), shareBar([
        ["reused", turn.reused, "of the turn before"],
        ["new", fresh, "new"],
    ]), facts([
        ["of the turn before", el("b", {}, count(turn.reused))],
        ["new", el("b", {}, count(fresh))],
        ["evaluated", turn.evaluated === null ? "the engine did not say" : el("b", {}, count(turn.evaluated))],
    ]));
};
