// The JavaScript peer: @huggingface/jinja on Node.
//
// Speaks the protocol of ../../README.md; `render -t TEMPLATE CONTEXT.json` prints one prompt. The
// clock stands still as in every engine (the environment sets TZ=UTC). Begin with obey().
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const kSampleNs = 20_000;
const kMinSamples = 3;

// The package is installed beside the build, not beside this file; see setup.sh.
const modules = process.env.PARLANCE_BENCH_NODE ?? dirname(new URL(import.meta.url).pathname);
const require = createRequire(join(modules, "package.json"));
const { Template } = require("@huggingface/jinja");
const { version } = JSON.parse(
  readFileSync(join(modules, "node_modules", "@huggingface", "jinja", "package.json"), "utf8"));

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length ? args : [RealDate.UTC(2026, 2, 14, 15, 9, 26)]));
  }
};

const engine = {
  load({ template, context }) {
    this.source = readFileSync(template, "utf8");
    this.contextText = readFileSync(context);
    this.template = new Template(this.source);
    this.context = JSON.parse(this.contextText.toString("utf8"));
  },
  compile() {
    return new Template(this.source);
  },
  render() {
    return this.template.render(this.context);
  },
  e2e() {
    return Buffer.from(this.template.render(JSON.parse(this.contextText.toString("utf8"))), "utf8");
  },
};

function runBatch(operation, count) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i++) operation();
  return Number(process.hrtime.bigint() - start);
}

function measure(operation, minNs) {
  let batch = 1;
  while (runBatch(operation, batch) < kSampleNs) batch *= 2;
  const samples = [];
  for (let total = 0; total < minNs || samples.length < kMinSamples; ) {
    const ns = runBatch(operation, batch);
    total += ns;
    samples.push(ns / batch);
  }
  samples.sort((a, b) => a - b);
  return { ns_per_op: samples[samples.length >> 1], ops: batch * samples.length };
}

function obey(command) {
  switch (command.cmd) {
    case "hello":
      return { version: `${version}, Node ${process.versions.node}` };
    case "load":
      engine.load(command);
      return { ok: true };
    case "bench":
      return measure(() => engine[command.metric](), (command.min_ms ?? 50) * 1e6);
    case "output":
      writeFileSync(command.to, engine.e2e());
      return { ok: true };
    default:
      throw new Error("the command is none of hello, load, bench, output");
  }
}

/** Lines are read with blocking calls: nothing else runs in the process while it is timed. */
function* linesOfStdin() {
  const stdin = openSync("/dev/stdin", "r");
  const chunk = Buffer.alloc(65536);
  let rest = "";
  for (let n; (n = readSync(stdin, chunk)) > 0; ) {
    const lines = (rest + chunk.toString("utf8", 0, n)).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  closeSync(stdin);
}

const args = process.argv.slice(2);
if (args[0] === "render" && args[1] === "-t") {
  engine.load({ template: args[2], context: args[3] });
  writeSync(1, engine.e2e());
} else {
  for (const line of linesOfStdin()) {
    let reply;
    try {
      reply = obey(JSON.parse(line));
    } catch (e) {
      reply = { error: String(e.message ?? e) };
    }
    writeSync(1, JSON.stringify(reply) + "\n");
  }
}
