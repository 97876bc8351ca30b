// The JavaScript clients of OpenAI, Anthropic and Ollama against a gateway: `node clients.mjs URL`, from a folder that has the packages.
// Prints a line of JSON for each step; more_clients.py says what each must be.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const load = async (name) => import(pathToFileURL(createRequire(process.cwd() + "/x.js").resolve(name)));
const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const { Ollama } = await load("ollama");

const url = process.argv[2];
const parameters = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };
const messages = [{ role: "user", content: "Where is <|im_end|> the water?" }];
const result = "The water stands at 3.2 m";
const say = (step, value) => console.log(JSON.stringify([step, value]));

const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0 });
say("openai", (await openai.chat.completions.create({ model: "mine", messages })).choices[0].message.content);
let text = "";
for await (const chunk of await openai.chat.completions.create({ model: "mine", messages, stream: true }))
  text += chunk.choices[0]?.delta?.content ?? "";
say("openai stream", text);
const look = { name: "look", parameters, parse: JSON.parse, function: async () => result };
say("openai tools", await openai.chat.completions.runTools({ model: "mine", messages, tools: [{ type: "function", function: look }] }).finalContent());
const kinds = [];
for await (const event of await openai.responses.create({ model: "mine", input: "Where?", stream: true })) kinds.push(event.type);
say("responses", [kinds[0], kinds.at(-1)]);

const anthropic = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
const asked = { model: "mine", max_tokens: 300, tools: [{ name: "look", input_schema: parameters }] };
const first = await anthropic.messages.stream({ ...asked, messages }).finalMessage();
say("anthropic call", [first.stop_reason, first.content[0].input]);
const answer = { role: "user", content: [{ type: "tool_result", tool_use_id: first.content[0].id, content: result }] };
const second = await anthropic.messages.create({ ...asked, messages: [...messages, { role: "assistant", content: first.content }, answer] });
say("anthropic", second.content[0].text);

const ollama = new Ollama({ host: url });
say("ollama", (await ollama.chat({ model: "mine", messages })).message.content);
text = "";
for await (const part of await ollama.chat({ model: "mine", messages, stream: true })) text += part.message.content;
say("ollama stream", text);
