// Where the page is, in its address: #session/turn/tab.

export const TABS = ["prompt", "tokens", "masks", "reply", "events", "grammar", "prefix", "guarded"] as const;
export type Tab = (typeof TABS)[number];

export interface Route {
  session: string | null;
  /** A turn's number, one that is under way, or the newest. */
  turn: number | "live" | null;
  tab: Tab;
}

export function readRoute(hash: string): Route {
  const [session, turn, tab] = hash.replace(/^#/, "").split("/").map(decoded);
  const number = /^\d+$/.test(turn ?? "") ? Number(turn) : turn === "live" ? "live" : null;
  const known = TABS.find((one) => one === tab);
  return { session: session || null, turn: number, tab: known ?? "prompt" };
}

export function writeRoute(route: Route): string {
  if (route.session === null) return "#";
  const parts = [encodeURIComponent(route.session)];
  if (route.turn !== null) parts.push(String(route.turn), route.tab);
  return "#" + parts.join("/");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
