// The two tools on the low-level server of the TypeScript SDK v1, which validates neither arguments nor results.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

// The packages are installed in the environment of the benchmark, not beside this file.
const require = createRequire(process.env.BENCH_NODE + '/');
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)).href.replace('/dist/cjs/', '/dist/esm/'));
const { Server } = await load('server/index.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = await load('types.js');

const { tools } = JSON.parse(readFileSync(process.env.BENCH_TOOLS, 'utf8'));

function makeServer() {
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const given = params.arguments;
    const result = params.name === 'echo' ? given.document : { sum: given.a + given.b };
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  });
  return server;
}

if (process.argv[2] === '--stdio') {
  const { StdioServerTransport } = await load('server/stdio.js');
  await makeServer().connect(new StdioServerTransport());
} else {
  const { StreamableHTTPServerTransport } = await load('server/streamableHttp.js');
  const sessions = new Map();
  const serve = async (request, response) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
  createServer(serve).listen(Number(process.argv[3].split(':').pop()), '127.0.0.1');
}
