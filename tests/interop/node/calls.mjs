// Lists the tools of a server and makes the calls given on standard input, with either official TypeScript client:
// node calls.mjs v1|v2-legacy|v2-modern http URL | stdio COMMAND...
// Standard input has a list of [tool, arguments], or {calls, answers}: the forms of the server get the answers in turn.

import { text } from "node:stream/consumers";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [kind, way, target, ...rest] = process.argv.slice(2);
const isV1 = kind === "v1";
const mode = kind === "v2-modern" ? { pin: "2026-07-28" } : "legacy";
const given = JSON.parse(await text(process.stdin));
const { calls = given, answers = [] } = given;
const capabilities = answers.length ? { elicitation: {} } : {};
const client = isV1
  ? new ClientV1({ name: "calls", version: "1" }, { capabilities })
  : new ClientV2({ name: "calls", version: "1" }, { capabilities, versionNegotiation: { mode } });
if (answers.length) client.setRequestHandler(isV1 ? ElicitRequestSchema : "elicitation/create", () => answers.shift());
const Http = isV1 ? HttpV1 : HttpV2;
const Stdio = isV1 ? StdioV1 : StdioV2;
const transport =
  way === "http"
    ? new Http(new URL(target))
    : new Stdio({ command: target, args: rest, env: process.env, stderr: "ignore" });
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const [name, args] of calls) {
  const { isError = false, structuredContent = null, content } = await client.callTool({ name, arguments: args });
  results.push({ isError, structuredContent, text: content.map((item) => item.text).join("\n") });
}
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));
await client.close();
process.exit(0);
