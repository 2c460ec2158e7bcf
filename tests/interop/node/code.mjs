// The TypeScript clients drive the code pack: node code.mjs CLIENT ERA ROOT http URL | CLIENT ERA ROOT stdio COMMAND...

import { Client as Legacy } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [name, era, root, way, target, ...rest] = process.argv.slice(2);
const [Stdio, Http] = name === "v1" ? [LegacyStdio, LegacyHttp] : [StdioClientTransport, StreamableHTTPClientTransport];
const negotiation = { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" };
const client = name === "v1" ? new Legacy({ name, version: "1" }) : new Client({ name, version: "1" }, { versionNegotiation: negotiation });
await client.connect(
  way === "http" ? new Http(new URL(target)) : new Stdio({ command: target, args: rest, env: process.env, stderr: "ignore" }),
);

const call = (tool, given) => client.callTool({ name: tool, arguments: given });
const structured = async (tool, given) => (await call(tool, given)).structuredContent;
const failure = async (tool, given) => {
  try {
    await call(tool, given);
  } catch (error) {
    return [error.code, error.data?.code ?? null];
  }
  return null;
};
const start = ({ uri, range }) => [uri.slice(root.length + 1), range.start.line, range.start.character];

const tools = (await client.listTools()).tools.map((tool) => tool.name);
const definition = await structured("code_definition", { symbol: "Circle.area" });
const references = [];
for (let cursor = null; cursor !== undefined; ) {
  const page = await structured("code_references", { symbol: "Circle.area", pageSize: 1, cursor });
  references.push(...page.items.map(start));
  cursor = page.nextCursor ?? undefined;
}
const told = {
  tools,
  definition: definition.locations.map(start),
  completeness: definition.completeness,
  engine: definition.engines[0].name,
  references,
  hover: (await call("code_hover", { symbol: "Circle.area" })).content[0].text.includes("area"),
  symbols: (await structured("code_documentSymbols", { uri: `${root}/shapes.py` })).symbols.map((each) => each.name),
  found: (await structured("code_workspaceSymbols", { query: "Circle" })).items.map((each) => each.name),
  broken: (await structured("code_diagnostics_document", { uri: `${root}/broken.py` })).diagnostics.length > 0,
  search: (await structured("code_search", { query: "area\\(", regex: true })).items.map(start),
  outline: (await structured("code_outline", {})).files.length > 0,
  outside: await failure("code_hover", { uri: "file:///etc/passwd", position: { line: 0, character: 0 } }),
  past: await failure("code_hover", { uri: `${root}/shapes.py`, position: { line: 999, character: 0 } }),
  invalid: await failure("code_references", { symbol: "Circle", pageSize: 201 }),
};
console.log(JSON.stringify(told));
await client.close();
process.exit(0);
