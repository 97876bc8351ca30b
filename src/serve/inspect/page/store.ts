// What the page knows: the sessions, the turns of the chosen one, the turns under way. Views are told when it changes.
import type { ReplyEvent, SessionLine, TurnLine } from "./data.js";

/** A turn under way. */
export interface LiveTurn {
  session: string;
  answer: string;
  choice: number;
  time: string;
  api: string;
  events: ReplyEvent[];
}

interface TurnBegun {
  session: string;
  answer: string;
  choice: number;
  time: string;
  api: string;
}

interface ReplyTold {
  session: string;
  answer: string;
  choice: number;
  event: ReplyEvent;
}

export interface Told {
  session: SessionLine;
  turn: TurnBegun;
  reply: ReplyTold;
  end: { session: string; turn: TurnLine };
}

export class Store {
  /** The one that was used last comes first. Null: not known yet. */
  sessions: SessionLine[] | null = null;
  /** Of the chosen session, the oldest first. Null: not known yet. */
  turns: TurnLine[] | null = null;
  chosen: string | null = null;
  readonly live = new Map<string, LiveTurn>();

  constructor(private readonly changed: (what: "sessions" | "turns" | "live") => void) {}

  session(id: string | null): SessionLine | undefined {
    return this.sessions?.find((one) => one.id === id);
  }

  line(number: number): TurnLine | undefined {
    return this.turns?.find((one) => one.number === number);
  }

  /** The turns under way of a session, the newest first. */
  liveOf(session: string | null): LiveTurn[] {
    return [...this.live.values()].filter((one) => one.session === session).reverse();
  }

  takeSessions(sessions: SessionLine[]): void {
    this.sessions = sessions;
    const busy = new Set(sessions.filter((one) => one.live > 0).map((one) => one.id));
    for (const [key, turn] of this.live) if (!busy.has(turn.session)) this.live.delete(key);
    this.changed("sessions");
    this.changed("turns");
  }

  choose(session: string | null): void {
    this.chosen = session;
    this.turns = null;
    this.changed("turns");
  }

  takeTurns(session: string, turns: TurnLine[]): void {
    if (session !== this.chosen) return;
    this.turns = turns;
    this.changed("turns");
  }

  sessionBegan(told: Told["session"]): void {
    if (this.sessions === null) return;
    this.sessions = [told, ...this.sessions.filter((one) => one.id !== told.id)];
    this.changed("sessions");
  }

  turnBegan(told: Told["turn"]): void {
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

  replyTold(told: Told["reply"]): LiveTurn {
    const turn = this.liveTurn({ time: "", api: "", ...told });
    turn.events.push(told.event);
    this.changed("live");
    return turn;
  }

  turnEnded(told: Told["end"]): void {
    const { turn } = told;
    this.live.delete(keyOf(turn));
    const session = this.toFront(told.session);
    if (session) addTurn(session, turn);
    if (told.session === this.chosen && this.turns !== null && !this.line(turn.number)) this.turns.push(turn);
    this.changed("sessions");
    this.changed("turns");
  }

  private liveTurn(told: TurnBegun): LiveTurn {
    const known = this.live.get(keyOf(told));
    if (known) return known;
    const made: LiveTurn = { session: told.session, answer: told.answer, choice: told.choice, time: told.time, api: told.api, events: [] };
    this.live.set(keyOf(told), made);
    this.changed("turns");
    return made;
  }

  private toFront(id: string): SessionLine | undefined {
    const session = this.session(id);
    if (session && this.sessions) this.sessions = [session, ...this.sessions.filter((one) => one !== session)];
    return session;
  }
}

export function keyOf(turn: { answer: string; choice: number }): string {
  return `${turn.answer}/${turn.choice}`;
}

function addTurn(session: SessionLine, turn: TurnLine): void {
  if (turn.number < session.turns) return; // the list was asked for behind it
  session.live = Math.max(0, session.live - 1);
  session.turns = turn.number + 1;
  session.prompt_tokens += turn.prompt_tokens;
  session.evaluated_tokens += turn.evaluated ?? 0;
  session.sampled_tokens += turn.sampled;
  session.breaks += turn.prefix_break ? 1 : 0;
  session.faults += turn.faults;
}
