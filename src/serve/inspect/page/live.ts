// Reads the stream of events, and connects again when it ends. An EventSource could not send the API key.
import { Gone, request, WrongKey } from "./api.js";

export type LinkState = "connecting" | "live" | "lost" | "key" | "off";

export interface LiveListener {
  /** The stream has begun: what happened before has to be asked for. */
  connected(): void;
  event(name: string, data: unknown): void;
  state(state: LinkState, why: string): void;
}

const QUIET = 40_000; // the server says something every 15 s
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5_000;

/** Cuts a stream into server-sent events. */
export class EventCutter {
  private rest = "";

  *take(piece: string): Generator<[string, string]> {
    this.rest += piece;
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const lines = this.rest.slice(0, end).split("\n");
      this.rest = this.rest.slice(end + 2);
      const name = lines.find((line) => line.startsWith("event: "))?.slice(7) ?? "message";
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      if (data.length > 0) yield [name, data.join("\n")];
    }
  }
}

export class Live {
  private stop = new AbortController();
  private wake: (() => void) | null = null;
  private listening = false;
  private anew = false;

  constructor(private readonly listener: LiveListener) {}

  /** Runs for as long as the page is there. */
  async run(): Promise<never> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      let why = "the server has ended the stream";
      try {
        await this.listen(() => (pause = FIRST_PAUSE));
      } catch (error) {
        if (error instanceof WrongKey) {
          this.listener.state("key", error.message);
          await new Promise<void>((resolve) => (this.wake = resolve));
          continue;
        }
        if (error instanceof Gone) {
          this.listener.state("off", error.message);
          await this.sleep(LONGEST_PAUSE);
          continue;
        }
        why = "the server does not answer";
      }
      if (this.anew) {
        this.anew = false;
        continue;
      }
      this.listener.state("lost", why);
      await this.sleep(pause);
    }
  }

  /** Connects anew at once: with another key, or because somebody does not want to wait. */
  again(): void {
    this.anew = this.listening;
    this.stop.abort();
    this.wake?.();
  }

  private sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async listen(begun: () => void): Promise<void> {
    this.stop = new AbortController();
    this.listening = true;
    const stop = this.stop;
    let timer = setTimeout(() => stop.abort(), QUIET);
    try {
      const answer = await request("live", stop.signal);
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      const cutter = new EventCutter();
      this.listener.state("live", "");
      this.listener.connected();
      begun();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => stop.abort(), QUIET);
        for (const [name, data] of cutter.take(decoder.decode(value, { stream: true }))) this.listener.event(name, JSON.parse(data));
      }
    } finally {
      this.listening = false;
      clearTimeout(timer);
    }
  }
}
