// A server on the low level of the official TypeScript SDK 1, with nothing of its own. Start it with `--stdio`.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "bare", version: "1.0.0" }, { capabilities: { tools: {} } });
const annotations = { readOnlyHint: true };
const properties = {
  number: { type: "integer" },
  text: { type: "string" },
  items: { type: "array", items: { type: "integer" } },
};
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: [
    { name: "count", description: "Count.", annotations, inputSchema: { type: "object", properties, required: Object.keys(properties) } },
    { name: "wait", description: "Wait.", annotations, inputSchema: { type: "object" } },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  if (request.params.name === "wait") await new Promise((resolve) => setTimeout(resolve, 400));
  else if (request.params.name !== "count") throw new Error(`Unknown tool: ${request.params.name}`);
  return { content: [{ type: "text", text: "done" }] };
});
await server.connect(new StdioServerTransport());
