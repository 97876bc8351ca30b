// Vercel's AI SDK, with each of its providers that speaks an API of the gateway.
import { attempt, load, LONG, result, say, url } from "./common.mjs";

const { generateText, streamText, tool, isStepCount, Output } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { createAnthropic } = await load("@ai-sdk/anthropic");
const { createOllama } = await load("ollama-ai-provider-v2");
const { z } = await load("zod");

globalThis.AI_SDK_LOG_WARNINGS = false;
const tools = { look: tool({ description: "Looks at the water.", inputSchema: z.object({ at: z.string() }), execute: result }) };
const common = { maxRetries: 0, providerOptions: { openai: { reasoningSummary: "auto", forceReasoning: true }, ollama: { think: true } } };
const told = ({ statusCode, data, message }) => [statusCode, data?.error?.code ?? data?.error?.type ?? null, message];

async function streamed(name, model, prompt, more = {}) {
  const seen = { text: "", reasoning: "", calls: [], error: null };
  const stream = streamText({ ...common, ...more, model, prompt, onError: () => {} });
  for await (const part of stream.fullStream) {
    if (part.type === "text-delta") seen.text += part.text;
    if (part.type === "reasoning-delta") seen.reasoning += part.text;
    if (part.type === "tool-call") seen.calls.push([part.toolName, part.input]);
    if (part.type === "error") seen.error = String(part.error?.message ?? JSON.stringify(part.error)).slice(0, 300);
    if (part.type === "finish") Object.assign(seen, { finish: part.finishReason, usage: part.totalUsage.inputTokens > 9 && part.totalUsage.outputTokens > 9 });
  }
  return seen;
}

async function all(name, make) {
  const model = make("mine");
  const thinking = name === "anthropic" ? { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } } : {};
  await attempt(`${name} chat`, async () => {
    const made = await generateText({ ...common, ...thinking, model, prompt: "Hi there" });
    return [made.text, made.reasoningText?.trim() ?? null, made.finishReason, made.usage.inputTokens > 9 && made.usage.outputTokens > 9, made.warnings];
  });
  await attempt(`${name} stream`, () => streamed(name, model, "Hi there", thinking));
  await attempt(`${name} tools`, async () => {
    const made = await generateText({ ...common, ...thinking, model, tools, prompt: "Use the tide tool", stopWhen: isStepCount(4) });
    return [made.text, made.steps.length, made.steps[0].toolCalls.map((call) => [call.toolName, call.input])];
  });
  await attempt(`${name} streamed tools`, () => streamed(name, model, "Use the tide tool", { ...thinking, tools, stopWhen: isStepCount(4) }));
  await attempt(`${name} form`, async () => {
    const schema = z.object({ place: z.string(), metres: z.number().int() });
    return (await generateText({ ...common, model, prompt: "Say it as JSON", output: Output.object({ schema }) })).output;
  });
  const failing = { long: LONG, unknown: "Hi there", gone: "Hi there" };
  for (const [what, prompt] of Object.entries(failing))
    await attempt(`${name} ${what}`, async () => {
      try {
        return (await generateText({ ...common, model: make(what === "long" ? "mine" : what), prompt })).text.slice(0, 80);
      } catch (error) {
        return told(error);
      }
    });
  await attempt(`${name} dies`, () => streamed(name, model, "Die midway"));
  await attempt(`${name} fails`, () => streamed(name, model, "Fail midway"));
}

const baseURL = url + "/v1";
await all("responses", createOpenAI({ baseURL, apiKey: "none" }));
await all("chat", createOpenAI({ baseURL, apiKey: "none" }).chat);
await all("compatible", createOpenAICompatible({ baseURL, name: "p", includeUsage: true, supportsStructuredOutputs: true }));
await all("anthropic", createAnthropic({ baseURL, apiKey: "none" }));
await all("ollama", createOllama({ baseURL: url + "/api" }));
