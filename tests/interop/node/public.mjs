// A TypeScript client that calls tools of any server: node public.mjs CALLS COMMAND..., with CALLS as JSON [[tool, arguments], ...].
// The legacy era speaks the client that most hosts still ship; what it saw is one JSON object on standard output.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [calls, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "public", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const { tools } = await client.listTools();
const said = [];
for (const [name, given] of JSON.parse(calls)) {
  try {
    const { content, isError } = await client.callTool({ name, arguments: given });
    said.push([isError ?? false, content.map(({ text }) => text ?? "").join("\n")]);
  } catch (error) {
    said.push([error.code, ""]);
  }
}
console.log(JSON.stringify({ server: client.getServerVersion()?.name, tools: tools.map(({ name }) => name), said }));
await client.close();
process.exit(0);
