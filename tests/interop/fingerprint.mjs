// An independent implementation of docs/FINGERPRINT.md: reads entries of tools/list from standard
// input and writes their fingerprints to standard output.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const TEXT = new Set(["title", "description", "$comment", "examples"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const SINGLES = new Set([
  "items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
  "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
]);

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

const digest = (value) => "sha256:" + createHash("sha256").update(canonical(value), "utf8").digest("hex");
const escape = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

function children(keyword, value) {
  if (MAPS.has(keyword) && isObject(value)) return Object.entries(value).map(([name, child]) => [`/${escape(name)}`, child]);
  if (LISTS.has(keyword) && Array.isArray(value)) return value.map((child, index) => [`/${index}`, child]);
  return SINGLES.has(keyword) ? [["", value]] : [];
}

function texts(schema, pointer, found) {
  if (!isObject(schema)) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${pointer}/${escape(keyword)}`;
    if (TEXT.has(keyword)) found[here] = value;
    for (const [step, child] of children(keyword, value)) texts(child, here + step, found);
  }
  return found;
}

function strip(schema) {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !TEXT.has(keyword));
  return Object.fromEntries(kept.map(([keyword, value]) => {
    if (MAPS.has(keyword) && isObject(value)) {
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, strip(child)]))];
    }
    if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map(strip)];
    return [keyword, SINGLES.has(keyword) ? strip(value) : value];
  }));
}

function fingerprint(tool) {
  const toolTexts = { description: tool.description ?? "" };
  if (tool.title != null) toolTexts.title = tool.title;
  for (const [side, schema] of [["input", tool.inputSchema], ["output", tool.outputSchema]]) {
    const found = texts(schema, "", {});
    if (Object.keys(found).length) toolTexts[side] = found;
  }
  const aspects = {
    input: digest(strip(tool.inputSchema)),
    output: tool.outputSchema == null ? null : digest(strip(tool.outputSchema)),
    description: digest(toolTexts),
    annotations: digest(tool.annotations ?? {}),
  };
  return { whole: digest({ fingerprint: 1, name: tool.name, ...aspects }), ...aspects };
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(fingerprint)));
