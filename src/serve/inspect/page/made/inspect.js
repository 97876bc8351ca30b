// The inspector's page. Begin reading at App: it holds what is shown, gives the lists and the turn what they show, and
// follows the server's events.
import { get, Gone, hasKey, sessionPath, turnPath, WrongKey } from "./api.js";
import { button, byId, el, emptyState } from "./dom.js";
import { KeyDialog } from "./key_dialog.js";
import { startKeys } from "./keys.js";
import { List } from "./list.js";
import { Live } from "./live.js";
import { Panes } from "./panes.js";
import { readRoute, writeRoute } from "./route.js";
import { fillSession, fillTurn, turnKey } from "./rows.js";
import { keyOf, Store } from "./store.js";
import { count, counted } from "./text.js";
import { startTheme } from "./theme.js";
import { TurnView } from "./turn_view.js";
const KEPT_TURNS = 4;
const SETTLE = 90; // milliseconds that the choice has to stay before a turn is asked for
const LINK_TEXT = {
    connecting: "connecting",
    live: "live",
    lost: "server gone, reconnecting",
    key: "API key wanted",
    off: "not shown",
};
class App {
    route = readRoute(location.hash);
    store = new Store((what) => this.changed(what));
    live = new Live({
        connected: () => void this.loadSessions(true),
        event: (name, data) => this.told(name, data),
        state: (state, why) => this.linked(state, why),
    });
    sessions;
    turns;
    view;
    cache = new Map();
    dirty = new Set();
    panes = new Panes({
        sessions: () => this.sessions.element.focus(),
        turns: () => this.turns.element.focus(),
        turn: () => this.view.focus(),
    });
    key = new KeyDialog(() => {
        this.forget();
        this.linked("connecting", "");
        this.live.again();
    });
    loading = new AbortController();
    era = 0; // of a key and a server: what was asked for in an earlier one is not shown
    shown = ""; // names the turn that is shown
    liveKey = null;
    follows = false;
    link = "connecting";
    filter = "";
    constructor() {
        this.sessions = new List({
            label: "Sessions",
            key: (one) => one.id,
            fill: fillSession,
            choose: (one) => this.go({ session: one.id, turn: null }),
            enter: () => this.panes.enter("turns"),
        });
        this.turns = new List({
            label: "Turns",
            key: turnKey,
            fill: fillTurn,
            choose: (item) => this.chooseTurn(item),
            enter: () => this.panes.enter("turn"),
        });
        this.view = new TurnView({
            chooseTab: (tab) => this.go({ tab }),
            other: (number) => this.load(number),
            lines: () => this.store.turns ?? [],
        });
        byId("sessions").append(this.sessions.element);
        byId("turns").append(this.turns.element);
    }
    start() {
        startTheme();
        startKeys({
            move: (by) => (this.panes.active === "sessions" ? this.sessions : this.turns).move(by),
            enter: () => this.panes.enter("sessions"),
            back: () => this.back(),
            tab: (tab) => this.go({ tab }),
            follow: () => this.follow(!this.follows),
        });
        this.listen();
        this.changed("sessions");
        this.changed("turns");
        this.applySession();
        void this.live.run();
    }
    listen() {
        const filter = byId("filter");
        filter.addEventListener("input", () => {
            this.filter = filter.value.trim().toLowerCase();
            this.changed("sessions");
        });
        byId("follow").addEventListener("click", () => this.follow(!this.follows));
        byId("back").addEventListener("click", () => this.back());
        byId("skip").addEventListener("click", (event) => {
            event.preventDefault();
            this.panes.enter("turn");
        });
        addEventListener("hashchange", () => {
            const route = readRoute(location.hash);
            const other = route.session !== this.route.session;
            this.route = route;
            if (other)
                this.applySession();
            else
                this.applyTurn();
        });
    }
    // Where we are
    go(to) {
        const other = to.session !== undefined && to.session !== this.route.session;
        this.route = { ...this.route, ...to };
        history.replaceState(null, "", writeRoute(this.route));
        if (other)
            this.applySession();
        else
            this.applyTurn();
    }
    applySession() {
        const { session } = this.route;
        this.store.choose(session);
        this.changed("sessions");
        this.shown = "";
        this.view.showInstead(session === null || this.link === "key" || this.link === "off" ? null : emptyState("Loading …"));
        if (session !== null)
            void this.loadTurns(session);
    }
    chooseTurn(item) {
        this.liveKey = "live" in item ? keyOf(item.live) : null;
        this.go({ turn: "live" in item ? "live" : item.line.number });
    }
    items() {
        const live = this.store.liveOf(this.store.chosen).map((turn) => ({ live: turn }));
        return [...live, ...(this.store.turns ?? []).map((line) => ({ line })).reverse()];
    }
    liveTurn() {
        const all = this.store.liveOf(this.store.chosen);
        return all.find((one) => keyOf(one) === this.liveKey) ?? all[0];
    }
    /** Shows what the route says, where it is not shown yet. */
    applyTurn() {
        this.changed("turns");
        if (this.store.turns === null)
            return;
        const live = this.liveTurn();
        if (this.route.turn === null || (this.route.turn === "live" && !live)) {
            const first = this.items()[0];
            if (first)
                return this.chooseTurn(first);
            this.view.showInstead(emptyState("No turns", "None of this session's turns are kept."));
            return;
        }
        const { session, turn, tab } = this.route;
        const answer = turn === "live" ? live && keyOf(live) : this.store.line(turn ?? 0)?.answer;
        const name = [session, turn, answer, tab].join("\n"); // another server may have another turn of this number
        if (name === this.shown)
            return;
        this.shown = name;
        this.loading.abort();
        if (turn === "live") {
            if (live)
                this.view.showLive(live, tab);
        }
        else
            void this.showTurn(turn, tab);
    }
    async showTurn(number, tab) {
        this.loading = new AbortController();
        const { signal } = this.loading;
        const known = this.cache.get(`${this.route.session}/${number}`);
        if (known)
            return this.view.show(known, tab);
        // A turn may be large: whoever walks through the list does not wait for each.
        await new Promise((resolve) => setTimeout(resolve, SETTLE));
        if (signal.aborted)
            return;
        const slow = setTimeout(() => this.view.showInstead(emptyState("Loading …")), 150);
        try {
            const turn = await this.load(number, signal);
            if (signal.aborted)
                return;
            if (turn)
                this.view.show(turn, tab);
            else
                this.view.showInstead(emptyState("This turn is not kept any more", "The server keeps the last turns, up to 256 MiB."));
        }
        catch (error) {
            if (signal.aborted)
                return;
            this.shown = "";
            this.view.showInstead(emptyState("The turn could not be loaded", String(error), button("Try again", { class: "plain" }, () => this.applyTurn())));
        }
        finally {
            clearTimeout(slow);
        }
    }
    // What the server is asked for
    async load(number, signal) {
        const session = this.route.session ?? "";
        const name = `${session}/${number}`;
        const known = this.cache.get(name);
        if (known)
            return known;
        try {
            const { era } = this;
            const turn = await get(turnPath(session, number), signal);
            if (era !== this.era)
                return null;
            this.cache.set(name, turn);
            for (const key of [...this.cache.keys()].slice(0, -KEPT_TURNS))
                this.cache.delete(key);
            return turn;
        }
        catch (error) {
            if (error instanceof Gone)
                return null;
            throw error;
        }
    }
    /** `anew`: the server may be another one than before. */
    async loadSessions(anew) {
        if (anew) {
            this.cache.clear();
            ++this.era;
        }
        const { era } = this;
        try {
            const { sessions } = await get("sessions");
            if (era !== this.era)
                return;
            this.store.takeSessions(sessions);
        }
        catch (error) {
            if (!(error instanceof WrongKey))
                this.instead("sessions", emptyState("The sessions could not be loaded", String(error), button("Try again", { class: "plain" }, () => void this.loadSessions(false))));
            return;
        }
        if (this.route.session !== null)
            await this.loadTurns(this.route.session);
        else if (this.follows)
            this.followNewest();
    }
    async loadTurns(session) {
        if (this.store.sessions === null)
            return; // they come first
        const { era } = this;
        try {
            const { turns } = await get(sessionPath(session));
            if (session !== this.route.session || era !== this.era)
                return;
            this.store.takeTurns(session, turns);
            this.applyTurn();
        }
        catch (error) {
            if (session !== this.route.session)
                return;
            this.shown = "";
            const gone = error instanceof Gone;
            const what = gone
                ? emptyState("This session is not kept any more", "The server keeps the last turns, and forgets them when it ends.")
                : emptyState("The turns could not be loaded", String(error), button("Try again", { class: "plain" }, () => void this.loadTurns(session)));
            if (gone)
                this.store.takeTurns(session, []);
            this.view.showInstead(what);
        }
    }
    // What the server says
    told(name, data) {
        if (name === "session")
            this.store.sessionBegan(data);
        if (name === "turn") {
            this.store.turnBegan(data);
            if (this.follows)
                this.followNewest();
        }
        if (name === "reply")
            this.store.replyTold(data);
        if (name === "end")
            this.ended(data);
        if (name === "lost")
            void this.loadSessions(false);
    }
    ended(told) {
        const live = this.liveTurn();
        const shown = told.session === this.route.session && this.route.turn === "live" && live !== undefined && keyOf(live) === keyOf(told.turn);
        this.store.turnEnded(told);
        if (shown)
            this.go({ turn: told.turn.number });
    }
    follow(follows) {
        this.follows = follows;
        byId("follow").setAttribute("aria-pressed", String(follows));
        if (follows)
            this.followNewest();
    }
    followNewest() {
        const newest = this.store.sessions?.[0];
        if (!newest)
            return;
        const live = this.store.liveOf(newest.id)[0];
        this.liveKey = live ? keyOf(live) : null;
        this.go({ session: newest.id, turn: live ? "live" : null });
    }
    linked(state, why) {
        const link = byId("link");
        link.dataset["state"] = state;
        link.title = why;
        byId("link-text").textContent = LINK_TEXT[state];
        byId("key-button").hidden = state !== "key" && !hasKey();
        this.link = state;
        if (state === "key" || state === "off")
            this.forget();
        if (state === "key")
            this.key.ask(true);
        this.changed("sessions");
    }
    /** Another key has other sessions. */
    forget() {
        ++this.era;
        this.store.sessions = null;
        this.store.live.clear();
        this.cache.clear();
        this.applySession();
    }
    // What is drawn
    changed(what) {
        if (this.dirty.size === 0)
            requestAnimationFrame(() => this.draw());
        this.dirty.add(what);
    }
    draw() {
        if (this.dirty.has("sessions"))
            this.drawSessions();
        if (this.dirty.has("turns"))
            this.drawTurns();
        if (this.dirty.has("live"))
            this.view.liveChanged();
        this.dirty.clear();
    }
    drawSessions() {
        const all = this.store.sessions;
        byId("sessions-count").textContent = all && all.length > 0 ? count(all.length) : "";
        const wanted = (all ?? []).filter((one) => `${one.session} ${one.model}`.toLowerCase().includes(this.filter));
        this.sessions.update(wanted, this.route.session);
        if (all === null)
            this.instead("sessions", this.whyNoSessions());
        else if (all.length === 0)
            this.instead("sessions", emptyState("No sessions yet", "They appear here as soon as a client asks for a reply."));
        else if (wanted.length === 0)
            this.instead("sessions", emptyState("None fits the filter"));
        else
            this.instead("sessions", null);
        this.drawSessionHead();
    }
    whyNoSessions() {
        if (this.link === "key")
            return emptyState("This server wants an API key", button("Enter it", { class: "plain" }, () => this.key.ask()));
        if (this.link === "off")
            return emptyState("This server shows no turns", "Start it with --inspect.");
        if (this.link === "lost")
            return emptyState("The server does not answer", button("Try again", { class: "plain" }, () => this.live.again()));
        return emptyState("Loading …");
    }
    drawSessionHead() {
        const session = this.store.session(this.route.session);
        const head = [el("h2", { title: session?.session }, session?.session ?? "Turns")];
        if (session)
            head.push(el("p", { class: "muted" }, `${session.model} · ${counted(session.turns, "turn")} · ${count(session.sampled_tokens)} sampled`));
        byId("session-head").replaceChildren(...head);
    }
    drawTurns() {
        const items = this.store.chosen === null ? [] : this.items();
        const live = this.route.turn === "live" ? this.liveTurn() : undefined;
        this.turns.update(items, live ? turnKey({ live }) : this.route.turn === null ? null : String(this.route.turn));
        const nothing = this.store.chosen === null
            ? emptyState("Choose a session")
            : this.store.turns === null
                ? emptyState("Loading …")
                : emptyState("No turns");
        this.instead("turns", items.length > 0 ? null : nothing);
    }
    /** Shows this in place of a list; null: the list. */
    instead(list, what) {
        const body = byId(list);
        body.querySelector(".empty")?.remove();
        if (what)
            body.append(what);
    }
    back() {
        const filter = byId("filter");
        if (document.activeElement !== filter)
            return this.panes.back();
        filter.value = this.filter = "";
        this.changed("sessions");
        this.panes.enter("sessions");
    }
}
new App().start();
