// Mastra, LlamaIndex, Instructor.
import { attempt, load, LONG, result, url } from "./common.mjs";

const { z } = await load("zod");
const baseURL = url + "/v1";

async function mastra() {
  const { Agent } = await load("@mastra/core/agent");
  const { createTool } = await load("@mastra/core/tools");
  const look = createTool({ id: "look", description: "Looks at the water.", inputSchema: z.object({ at: z.string() }), execute: async (input) => result(input.context ?? input) });
  const made = (more = {}) => new Agent({ id: "a", name: "a", instructions: "Be short.", model: { id: "p/mine", url: baseURL, apiKey: "none" }, ...more });
  await attempt("mastra chat", async () => (await made().generate("Hi there")).text);
  await attempt("mastra stream", async () => {
    const run = await made().stream("Hi there");
    let text = "";
    for await (const piece of run.textStream) text += piece;
    return [text, (await run.reasoningText) ?? null, (await run.usage).inputTokens > 9];
  });
  await attempt("mastra tools", async () => {
    const run = await made({ tools: { look } }).generate("Use the tide tool");
    return [run.text, run.steps.length];
  });
  await attempt("mastra form", async () => (await made().generate("Say it as JSON", { structuredOutput: { schema: z.object({ place: z.string(), metres: z.number().int() }) } })).object);
  await attempt("mastra long", async () => (await made({ maxRetries: 0 }).generate(LONG)).text);
}

async function llamaindex() {
  process.env.ANTHROPIC_BASE_URL = url; // its own settings have no place for it
  const { tool } = await load("llamaindex");
  const { OpenAI } = await load("@llamaindex/openai");
  const { Anthropic } = await load("@llamaindex/anthropic");
  const { Ollama } = await load("@llamaindex/ollama");
  const look = tool({ name: "look", description: "Looks at the water.", parameters: z.object({ at: z.string() }), execute: result });
  const llms = {
    openai: new OpenAI({ model: "mine", apiKey: "none", baseURL, maxRetries: 0 }),
    anthropic: new Anthropic({ model: "mine", apiKey: "none", baseURL: url, maxRetries: 0, maxTokens: 2000 }),
    ollama: new Ollama({ model: "mine", config: { host: url } }),
  };
  const user = (content) => [{ role: "user", content }];
  for (const [name, llm] of Object.entries(llms)) {
    await attempt(`llamaindex ${name} chat`, async () => (await llm.chat({ messages: user("Hi there") })).message.content);
    await attempt(`llamaindex ${name} stream`, async () => {
      let text = "";
      for await (const chunk of await llm.chat({ messages: user("Hi there"), stream: true })) text += chunk.delta;
      return text;
    });
    await attempt(`llamaindex ${name} tools`, async () => {
      const messages = user("Use the tide tool");
      const first = await llm.exec({ messages, tools: [look] });
      const second = await llm.exec({ messages: [...messages, ...first.newMessages], tools: [look] });
      return [second.newMessages.at(-1).content, first.toolCalls.map((call) => [call.name, call.input])];
    });
  }
}

async function instructor() {
  const loaded = (await load("@instructor-ai/instructor")).default;
  const Instructor = loaded.default ?? loaded;
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const { z } = await load("zod/v3");
  const schema = z.object({ place: z.string(), metres: z.number().int() });
  for (const mode of ["TOOLS", "FUNCTIONS", "JSON", "MD_JSON", "JSON_SCHEMA"])
    await attempt(`instructor ${mode} form`, async () => {
      const made = await Instructor({ client, mode }).chat.completions.create({ model: "mine", messages: [{ role: "user", content: "Say it as JSON" }], response_model: { schema, name: "Tide" } });
      return { place: made.place, metres: made.metres };
    });
}

for (const one of [mastra, llamaindex, instructor]) await one();
process.exit(0);
