// LangChain's clients of the three APIs.
import { attempt, load, LONG, result, url } from "./common.mjs";

const { ChatOpenAI } = await load("@langchain/openai");
const { ChatAnthropic } = await load("@langchain/anthropic");
const { ChatOllama } = await load("@langchain/ollama");
const { tool } = await load("@langchain/core/tools");
const { HumanMessage } = await load("@langchain/core/messages");
const { z } = await load("zod");

const look = tool(result, { name: "look", description: "Looks at the water.", schema: z.object({ at: z.string() }) });
const thought = (message) =>
  message.contentBlocks?.filter((block) => block.type === "reasoning").map((block) => block.reasoning).join("") || message.additional_kwargs?.reasoning_content || null;
const tokens = (message) => message.usage_metadata?.input_tokens > 9 && message.usage_metadata?.output_tokens > 9;

async function all(name, make, plain = {}) {
  const model = make({ model: "mine" });
  await attempt(`${name} chat`, async () => {
    const made = await model.invoke("Hi there");
    return [made.text, thought(made), tokens(made)];
  });
  await attempt(`${name} stream`, async () => {
    let whole;
    for await (const chunk of await model.stream("Hi there")) whole = whole ? whole.concat(chunk) : chunk;
    return [whole.text, thought(whole), tokens(whole)];
  });
  for (const way of ["tools", "streamed tools"])
    await attempt(`${name} ${way}`, async () => {
      const bound = model.bindTools([look]);
      const messages = [new HumanMessage("Use the tide tool")];
      let made;
      if (way === "tools") made = await bound.invoke(messages);
      else for await (const chunk of await bound.stream(messages)) made = made ? made.concat(chunk) : chunk;
      messages.push(made);
      for (const call of made.tool_calls) messages.push(await look.invoke(call));
      return [(await bound.invoke(messages)).text, made.tool_calls.map((call) => [call.name, call.args])];
    });
  await attempt(`${name} form`, async () =>
    make({ model: "mine", ...plain }).withStructuredOutput(z.object({ place: z.string(), metres: z.number().int() }), { name: "tide" }).invoke("Say it as JSON"));
  const failing = { long: ["mine", LONG], unknown: ["unknown", "Hi there"], gone: ["gone", "Hi there"] };
  for (const [what, [named, prompt]] of Object.entries(failing))
    await attempt(`${name} ${what}`, async () => {
      try {
        return (await make({ model: named }).invoke(prompt)).text.slice(0, 80);
      } catch (error) {
        return [error.name, error.status ?? error.status_code ?? null, error.message.slice(0, 200)];
      }
    });
  for (const what of ["dies", "fails"])
    await attempt(`${name} ${what}`, async () => {
      let text = "";
      try {
        for await (const chunk of await model.stream(what === "dies" ? "Die midway" : "Fail midway")) text += chunk.text;
        return ["ended well", text];
      } catch (error) {
        return [error.name, error.message.slice(0, 200), text];
      }
    });
}

const openai = { apiKey: "none", maxRetries: 0, configuration: { baseURL: url + "/v1" } };
await all("chat", (more) => new ChatOpenAI({ ...openai, ...more }));
await all("responses", (more) => new ChatOpenAI({ ...openai, useResponsesApi: true, reasoning: { summary: "auto" }, ...more }));
const thinking = { type: "enabled", budget_tokens: 1024 };
await all("anthropic", (more) => new ChatAnthropic({ apiKey: "none", anthropicApiUrl: url, maxRetries: 0, maxTokens: 4000, thinking, ...more }), { thinking: undefined });
await all("ollama", (more) => new ChatOllama({ baseUrl: url, maxRetries: 0, think: true, ...more }));
