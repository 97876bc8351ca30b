// OpenAI's agents, by Responses and by chat completions.
import { attempt, load, LONG, result, url } from "./common.mjs";

const { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } = await load("@openai/agents");
const { z } = await load("zod");
setTracingDisabled(true);

const look = tool({ name: "look", description: "Looks at the water.", parameters: z.object({ at: z.string() }), execute: result });
for (const useResponses of [true, false]) {
  const name = useResponses ? "responses" : "chat";
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: "none", baseURL: url + "/v1", useResponses }), tracingDisabled: true });
  const made = (more = {}) => new Agent({ name: "a", instructions: "Be short.", model: "mine", modelSettings: { retry: { maxRetries: 0 } }, ...more });
  const calls = (run) => run.newItems.filter((item) => item.type === "tool_call_item").map((item) => [item.rawItem.name, JSON.parse(item.rawItem.arguments)]);
  await attempt(`${name} chat`, async () => {
    const run = await runner.run(made(), "Hi there");
    return [run.finalOutput, run.state.usage.inputTokens > 9 && run.state.usage.outputTokens > 9, run.newItems.map((item) => item.type)];
  });
  for (const [way, prompt] of Object.entries({ stream: "Hi there", "streamed tools": "Use the tide tool", dies: "Die midway", fails: "Fail midway" }))
    await attempt(`${name} ${way}`, async () => {
      const run = await runner.run(made({ tools: way === "streamed tools" ? [look] : [] }), prompt, { stream: true });
      let text = "";
      for await (const event of run) if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") text += event.data.delta;
      await run.completed;
      return [run.finalOutput, text, calls(run), run.state.usage.inputTokens > 9];
    });
  await attempt(`${name} tools`, async () => {
    const run = await runner.run(made({ tools: [look] }), "Use the tide tool");
    return [run.finalOutput, calls(run), run.newItems.map((item) => item.type)];
  });
  await attempt(`${name} form`, async () => (await runner.run(made({ outputType: z.object({ place: z.string(), metres: z.number().int() }) }), "Say it as JSON")).finalOutput);
  for (const [what, model, prompt] of [["long", "mine", LONG], ["unknown", "unknown", "Hi"], ["gone", "gone", "Hi"]])
    await attempt(`${name} ${what}`, async () => (await runner.run(made({ model }), prompt)).finalOutput);
}
process.exit(0);
