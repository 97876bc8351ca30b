// What the server sends, as docs/serve-inspector.md describes it.

export interface SessionLine {
  id: string;
  session: string;
  model: string;
  begun: string;
  last: string;
  turns: number;
  live: number;
  prompt_tokens: number;
  evaluated_tokens: number;
  sampled_tokens: number;
  breaks: number;
  faults: number;
}

export interface PrefixBreak {
  cause: string;
  sentence: string;
  template: string;
  input: string;
  kept: number;
  lost: number;
  volatile_line: boolean;
}

export interface Figures {
  number: number;
  turn: number;
  choice: number;
  time: string;
  milliseconds: number;
  api: string;
  answer: string;
  status: string;
  error?: string;
  prompt_tokens: number;
  reused: number;
  evaluated: number | null;
  sampled: number;
  finish_reason: string;
  prefix_break: PrefixBreak | null;
}

export interface TurnLine extends Figures {
  grammar: boolean;
  faults: number;
  beginning: string;
  calls: string[];
}

export interface Span {
  begin: number;
  end: number;
  text: string;
  hue: string;
  origin: string;
  line?: number;
  column?: number;
  path?: string;
  message?: number;
}

export interface Token {
  id: number;
  begin: number;
  end: number;
  text: string;
  bytes?: number[];
  control?: boolean;
  reused?: boolean;
}

export interface SampledToken extends Token {
  kind: string;
  logprob?: number;
}

export interface Call {
  id?: string;
  function?: { name?: string; arguments?: unknown };
  [member: string]: unknown;
}

export interface Message {
  content?: unknown;
  reasoning_content?: unknown;
  tool_calls?: Call[];
  [member: string]: unknown;
}

export interface Reply {
  message: Message;
  finish_reason: string;
  diagnostics: Record<string, unknown>[];
}

export interface ReplyEvent {
  type: string;
  position: number;
  [member: string]: unknown;
}

export interface Guarded {
  begin: number;
  end: number;
  id: number;
  text: string;
  path: string;
}

export interface Turn extends Figures {
  spans: Span[];
  tokens: Token[];
  sampled_tokens: SampledToken[];
  reply: Reply;
  events: ReplyEvent[];
  grammar: string | null;
  guarded: Guarded[];
}
