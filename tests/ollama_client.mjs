// One conversation with tools through Ollama's own client; prints the calls, the answer and what
// the client learns of the server as JSON.
//     node ollama_client.mjs ADDRESS whole|streamed
import { Ollama } from "ollama";

const [address, how] = process.argv.slice(2);
const { task, files, tools } = JSON.parse(process.env.SCENE);
const client = new Ollama({ host: address });
const calls = [];

function run({ name, arguments: given }) {
  calls.push([name, given]);
  return name === "list_mp3s" ? files : `playing ${given.filename}`;
}

async function ask(request) {
  if (how === "whole") return (await client.chat(request)).message;
  const whole = { role: "assistant", content: "", tool_calls: [] };
  for await (const { message } of await client.chat({ ...request, stream: true })) {
    whole.content += message.content;
    whole.tool_calls.push(...(message.tool_calls ?? []));
  }
  return whole;
}

async function converse() {
  const messages = [{ role: "user", content: task }];
  const offered = tools.map((each) => ({ type: "function", function: each }));
  for (let turn = 0; turn < 5; turn++) {
    const message = await ask({ model: "m", messages, tools: offered });
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const { function: each } of message.tool_calls) {
      messages.push({ role: "tool", tool_name: each.name, content: run(each) });
    }
  }
}

const answer = await converse();
const { models } = await client.list();
const { capabilities } = await client.show({ model: "m" });
const pulled = await client.pull({ model: "m" });
const { version } = await client.version();
const refusal = await client.embed({ model: "m", input: "x" }).catch((error) => error.message);
const about = { names: models.map((each) => each.name), capabilities, pulled, version, refusal };
console.log(JSON.stringify({ calls, answer, about }));
