// The TypeScript client of the legacy era: node v1.mjs legacy http URL | legacy stdio COMMAND...

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answers, capabilities, tell } from "./story.mjs";

const [, way, target, ...rest] = process.argv.slice(2);
const client = new Client({ name: "v1", version: "1" }, { capabilities });
const seen = { logs: [], changes: [] };
client.setRequestHandler(ElicitRequestSchema, answers.elicit);
client.setRequestHandler(CreateMessageRequestSchema, answers.sample);
client.setRequestHandler(ListRootsRequestSchema, answers.roots);
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.logs.push(params.level));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => void seen.changes.push("tools"));
const transport =
  way === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: "ignore" });
await client.connect(transport);
// This client takes a result schema between the parameters and the options.
const callTool = client.callTool.bind(client);
client.callTool = (params, options) => callTool(params, CallToolResultSchema, options);
const told = await tell(client, seen, { modern: false, version: transport.protocolVersion ?? "2025-11-25" });
console.log(JSON.stringify(told));
await client.close();
process.exit(0);
