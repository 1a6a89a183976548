// One conversation with tools through OpenAI's own client; prints the calls and the answer as JSON.
//     node openai_clients.mjs ADDRESS chat|responses whole|streamed
import OpenAI from "openai";

const [address, wire, how] = process.argv.slice(2);
const { task, files, tools } = JSON.parse(process.env.SCENE);
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "none", maxRetries: 0 });
const calls = [];

function run(name, written) {
  const given = JSON.parse(written);
  calls.push([name, given]);
  return name === "list_mp3s" ? files : `playing ${given.filename}`;
}

async function chat() {
  const messages = [{ role: "user", content: task }];
  const offered = tools.map((each) => ({ type: "function", function: each }));
  for (let turn = 0; turn < 5; turn++) {
    const request = { model: "m", messages, tools: offered };
    const made =
      how === "streamed"
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request);
    const { message, finish_reason: reason } = made.choices[0];
    if (reason !== "tool_calls") return message.content;
    messages.push(message);
    for (const { id, function: each } of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: id, content: run(each.name, each.arguments) });
    }
  }
}

async function responses() {
  const input = [{ role: "user", content: task }];
  const offered = tools.map((each) => ({ type: "function", strict: false, ...each }));
  for (let turn = 0; turn < 5; turn++) {
    const request = { model: "m", input, tools: offered };
    const made =
      how === "streamed"
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request);
    const wanted = made.output.filter((each) => each.type === "function_call");
    if (!wanted.length) return made.output_text;
    input.push(...made.output);
    for (const { call_id, name, arguments: written } of wanted) {
      input.push({ type: "function_call_output", call_id, output: run(name, written) });
    }
  }
}

const answer = await (wire === "chat" ? chat() : responses());
console.log(JSON.stringify({ calls, answer }));
