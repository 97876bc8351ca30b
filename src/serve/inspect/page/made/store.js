export class Store {
    changed;
    /** The one that was used last comes first. Null: not known yet. */
    sessions = null;
    /** Of the chosen session, the oldest first. Null: not known yet. */
    turns = null;
    chosen = null;
    live = new Map();
    constructor(changed) {
        this.changed = changed;
    }
    session(id) {
        return this.sessions?.find((one) => one.id === id);
    }
    line(number) {
        return this.turns?.find((one) => one.number === number);
    }
    /** The turns under way of a session, the newest first. */
    liveOf(session) {
        return [...this.live.values()].filter((one) => one.session === session).reverse();
    }
    takeSessions(sessions) {
        this.sessions = sessions;
        const busy = new Set(sessions.filter((one) => one.live > 0).map((one) => one.id));
        for (const [key, turn] of this.live)
            if (!busy.has(turn.session))
                this.live.delete(key);
        this.changed("sessions");
        this.changed("turns");
    }
    choose(session) {
        this.chosen = session;
        this.turns = null;
        this.changed("turns");
    }
    takeTurns(session, turns) {
        if (session !== this.chosen)
            return;
        this.turns = turns;
        this.changed("turns");
    }
    sessionBegan(told) {
        if (this.sessions === null)
            return;
        this.sessions = [told, ...this.sessions.filter((one) => one.id !== told.id)];
        this.changed("sessions");
    }
    turnBegan(told) {
        this.liveTurn(told);
        const session = this.toFront(told.session);
        if (session) {
            // A session that has just begun was told with its first turn.
            session.live = Math.max(session.live, this.liveOf(told.session).length);
            session.last = told.time;
        }
        this.changed("sessions");
        this.changed("turns");
    }
    replyTold(told) {
        const turn = this.liveTurn({ time: "", api: "", ...told });
        turn.events.push(told.event);
        this.changed("live");
        return turn;
    }
    turnEnded(told) {
        const { turn } = told;
        this.live.delete(keyOf(turn));
        const session = this.toFront(told.session);
        if (session)
            addTurn(session, turn);
        if (told.session === this.chosen && this.turns !== null && !this.line(turn.number))
            this.turns.push(turn);
        this.changed("sessions");
        this.changed("turns");
    }
    liveTurn(told) {
        const known = this.live.get(keyOf(told));
        if (known)
            return known;
        const made = { session: told.session, answer: told.answer, choice: told.choice, time: told.time, api: told.api, events: [] };
        this.live.set(keyOf(told), made);
        this.changed("turns");
        return made;
    }
    toFront(id) {
        const session = this.session(id);
        if (session && this.sessions)
            this.sessions = [session, ...this.sessions.filter((one) => one !== session)];
        return session;
    }
}
export function keyOf(turn) {
    return `${turn.answer}/${turn.choice}`;
}
function addTurn(session, turn) {
    if (turn.number < session.turns)
        return; // the list was asked for behind it
    session.live = Math.max(0, session.live - 1);
    session.turns = turn.number + 1;
    session.prompt_tokens += turn.prompt_tokens;
    session.evaluated_tokens += turn.evaluated ?? 0;
    session.sampled_tokens += turn.sampled;
    session.breaks += turn.prefix_break ? 1 : 0;
    session.faults += turn.faults;
}
