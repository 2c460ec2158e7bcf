// The TypeScript client of 2026 in either era: node v2.mjs ERA http URL | ERA stdio COMMAND...

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answers, capabilities, tell } from "./story.mjs";

const [era, way, target, ...rest] = process.argv.slice(2);
const modern = era === "modern";
const client = new Client(
  { name: "v2", version: "1" },
  { capabilities, versionNegotiation: { mode: modern ? { pin: "2026-07-28" } : "legacy" } },
);
const seen = { logs: [], changes: [] };
client.setRequestHandler("elicitation/create", answers.elicit);
client.setRequestHandler("sampling/createMessage", answers.sample);
client.setRequestHandler("roots/list", answers.roots);
client.setNotificationHandler("notifications/message", ({ params }) => void seen.logs.push(params.level));
client.setNotificationHandler("notifications/tools/list_changed", () => void seen.changes.push("tools"));
const transport =
  way === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: "ignore" });
await client.connect(transport);
const told = await tell(client, seen, { modern, version: client.getNegotiatedProtocolVersion() });
console.log(JSON.stringify(told));
await client.close();
process.exit(0);
