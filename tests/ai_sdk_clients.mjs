// One conversation with tools through Vercel's AI SDK; prints the calls and the answer as JSON.
//     node ai_sdk_clients.mjs ADDRESS compatible|chat|responses|messages whole|streamed
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const [address, wire, how] = process.argv.slice(2);
const { task, files, tools } = JSON.parse(process.env.SCENE);
const settings = { name: "andy", baseURL: `${address}/v1`, apiKey: "none" };
const models = {
  compatible: () => createOpenAICompatible(settings)("m"),
  chat: () => createOpenAI(settings).chat("m"),
  responses: () => createOpenAI(settings)("m"),
  messages: () => createAnthropic(settings)("m"),
};
const calls = [];

function run(name, given) {
  calls.push([name, given]);
  return name === "list_mp3s" ? files : `playing ${given.filename}`;
}

const offered = tools.map(({ name, description, parameters }) => [
  name,
  tool({ description, inputSchema: jsonSchema(parameters), execute: (given) => run(name, given) }),
]);
const made = await (how === "streamed" ? streamText : generateText)({
  model: models[wire](),
  tools: Object.fromEntries(offered),
  prompt: task,
  stopWhen: stepCountIs(5),
  maxRetries: 0,
  maxOutputTokens: 500,
  providerOptions: { openai: { store: false } }, // else it refers to what it thinks is stored
});
const answer = await made.text;
console.log(JSON.stringify({ calls, answer }));
