// The two tools on McpServer of the TypeScript SDK v2, with contracts from JSON Schema.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

// The packages are installed in the environment of the benchmark, not beside this file.
const require = createRequire(process.env.BENCH_NODE + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)).href.replace(/\.cjs$/, '.mjs'));
const { McpServer, createMcpHandler, fromJsonSchema } = await load('@modelcontextprotocol/server');

const { tools } = JSON.parse(readFileSync(process.env.BENCH_TOOLS, 'utf8'));
const contracts = tools.map((tool) => ({
  ...tool, inputSchema: fromJsonSchema(tool.inputSchema), outputSchema: fromJsonSchema(tool.outputSchema),
}));
const answer = (result) => ({ content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result });
const add = async ({ a, b }) => answer({ sum: a + b });
const echo = async ({ document }) => answer(document);

function makeServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  for (const { name, ...contract } of contracts) server.registerTool(name, contract, name === 'echo' ? echo : add);
  return server;
}

if (process.argv[2] === '--stdio') {
  const { serveStdio } = await load('@modelcontextprotocol/server/stdio');
  serveStdio(makeServer);
} else {
  const { toNodeHandler } = await load('@modelcontextprotocol/node');
  const handler = createMcpHandler(makeServer);
  createServer(toNodeHandler(handler)).listen(Number(process.argv[3].split(':').pop()), '127.0.0.1');
}
