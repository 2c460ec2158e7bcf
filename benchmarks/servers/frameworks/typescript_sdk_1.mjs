// A server on the high level of the official TypeScript SDK 1, with nothing of its own. Start it with `--stdio` or `--http PORT`.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

function makeServer() {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  const annotations = { readOnlyHint: true };
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  const inputSchema = { number: z.number().int(), text: z.string(), items: z.array(z.number().int()) };
  server.registerTool("count", { description: "Count.", annotations, inputSchema }, ({ number }) => text(String(number)));
  server.registerTool("wait", { description: "Wait.", annotations }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return text("done");
  });
  server.registerResource("note", "note://one", {}, (uri) => ({ contents: [{ uri: uri.href, text: "one" }] }));
  server.registerPrompt("greet", { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Say hello to ${name}.` } }],
  }));
  return server;
}

if (process.argv[2] === "--stdio") {
  await makeServer().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(Number(process.argv[3]), "127.0.0.1");
}
