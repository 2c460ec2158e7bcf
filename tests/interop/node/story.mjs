// What every TypeScript client is made to do with the server, and what it saw: one JSON object on standard output.

import { setTimeout as pause } from "node:timers/promises";

/** Waits, within bounds, until something has happened on the server. */
async function until(condition) {
  for (let tries = 0; tries < 1000; tries++) {
    if (await condition()) return;
    await pause(5);
  }
  throw new Error("it did not happen");
}

/** The code of an error that a promise ends with. */
async function failure(promise) {
  try {
    await promise;
    return "no error";
  } catch (error) {
    return error.code ?? String(error);
  }
}

/** The envelope of a failure: structured, or the text that carries it where an output schema forbids that. */
const envelope = ({ structuredContent, content }) => structuredContent ?? JSON.parse(content[0].text);

export async function tell(client, seen, { modern, version }) {
  const call = (name, args = {}, options = {}, meta = undefined) =>
    client.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) }, options);
  const tools = await client.listTools();
  const refused = {};
  for (const dialect of ["mcp", "resolve_v0", "system_1_0"]) {
    const result = await call(`refuse_${dialect}`);
    refused[dialect] = [result.isError, Object.keys(envelope(result)).length, result.structuredContent !== undefined];
  }
  const progress = [];
  const counted = call("steps", { values: [1, 2, 2, 3], hold: "steps" }, { onprogress: ({ progress: step }) => progress.push(step) });
  await until(() => progress.length >= 3);
  await call("let_go", { name: "steps" });
  await counted;
  if (!modern) await client.setLoggingLevel("error");
  await call("log_all", {}, {}, modern ? { "io.modelcontextprotocol/logLevel": "error" } : undefined);
  const asked = await call("ask_name", { greeting: "Hello" });
  const sampled = await call("ask_model", { prompt: "Well?" });
  const roots = await call("ask_roots");

  const giveUp = new AbortController();
  const held = failure(call("hold", { name: "held" }, { signal: giveUp.signal }));
  const story = async () => (await call("story")).structuredContent.result;
  await until(async () => (await story()).includes("began held"));
  giveUp.abort();
  const cancelled = await held;
  await until(async () => (await story()).includes("cancelled held"));

  const subscription = modern ? await client.listen({ toolsListChanged: true }) : undefined;
  await call("change_tools");
  await until(() => seen.changes.length >= 2);
  if (subscription) await subscription.close();

  return {
    version,
    server: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    tools: tools.tools.filter(({ name }) => ["add", "ask_name", "refuse_mcp"].includes(name)).map(({ name }) => name),
    sum: (await call("add", { a: 1, b: 2 })).structuredContent,
    mirrored: (await call("mirrored", { region: "é", limit: 5, nested: { zone: "z" } })).content[0].text,
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: (await client.readResource({ uri: "hard://watched/x" })).contents[0].text,
    unread: await failure(client.readResource({ uri: "hard://nope" })),
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: (await client.getPrompt({ name: "greet", arguments: { name: "Ann" } })).messages[0].content.text,
    completion: await client
      .complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "A" } })
      .then(({ completion }) => [completion.values.length, completion.total, completion.hasMore]),
    progress,
    logs: seen.logs,
    asked: asked.content[0].text,
    sampled: sampled.content[0].text,
    roots: roots.structuredContent.result,
    invalid: envelope(await call("add", { a: "5", b: 1 })).error.code,
    leaked: envelope(await call("leak")).error.code,
    unknown: await failure(call("nope")),
    refused,
    thrown: await failure(call("refuse_mcp_v1")),
    cancelled: cancelled !== "no error",
    changes: seen.changes.length >= 2,
  };
}

/** What the person and the model behind the client answer. */
export const answers = {
  elicit: (request) => ({ action: "accept", content: { name: request.params.message.split(" ")[0] } }),
  sample: () => ({ role: "assistant", content: { type: "text", text: "well" }, model: "m", stopReason: "endTurn" }),
  roots: () => ({ roots: [{ uri: "file:///w" }] }),
};

export const capabilities = { elicitation: {}, sampling: {}, roots: {} };
