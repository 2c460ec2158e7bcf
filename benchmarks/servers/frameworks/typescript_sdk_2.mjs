// A bare server on the high level of the official TypeScript SDK 2. Start it with `--stdio` or `--http PORT`.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const integer = { type: "integer" };
const properties = { number: integer, text: { type: "string" }, items: { type: "array", items: integer } };
const inputSchema = fromJsonSchema({ type: "object", properties, required: Object.keys(properties) });

function makeServer() {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  const annotations = { readOnlyHint: true };
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  server.registerTool("count", { description: "Count.", annotations, inputSchema }, async ({ number }) => text(String(number)));
  server.registerTool("wait", { description: "Wait.", annotations }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return text("done");
  });
  server.registerResource("note", "note://one", {}, (uri) => ({ contents: [{ uri: uri.href, text: "one" }] }));
  server.registerPrompt("greet", { description: "Greet." }, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Say hello." } }],
  }));
  return server;
}

if (process.argv[2] === "--stdio") serveStdio(makeServer);
else createServer(toNodeHandler(createMcpHandler(makeServer))).listen(Number(process.argv[3]), "127.0.0.1");
