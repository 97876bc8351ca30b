// Where the page is, in its address: #session/turn/tab.
export const TABS = ["prompt", "tokens", "masks", "reply", "events", "grammar", "prefix", "guarded"];
export function readRoute(hash) {
    const [session, turn, tab] = hash.replace(/^#/, "").split("/").map(decoded);
    const number = /^\d+$/.test(turn ?? "") ? Number(turn) : turn === "live" ? "live" : null;
    const known = TABS.find((one) => one === tab);
    return { session: session || null, turn: number, tab: known ?? "prompt" };
}
export function writeRoute(route) {
    if (route.session === null)
        return "#";
    const parts = [encodeURIComponent(route.session)];
    if (route.turn !== null)
        parts.push(String(route.turn), route.tab);
    return "#" + parts.join("/");
}
function decoded(part) {
    try {
        return decodeURIComponent(part);
    }
    catch {
        return "";
    }
}
