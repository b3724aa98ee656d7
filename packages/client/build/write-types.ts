// Writes the types of the operations of openapi.json to src/generated/api.ts. They are not committed: `npm run check`, `npm run
// generate` and `npm run pack` write them. Node, which strips types, runs the client without them.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTypes, { astToString } from 'openapi-typescript';

const document = new URL('../openapi.json', import.meta.url);
const folder = fileURLToPath(new URL('../src/generated', import.meta.url));
const file = `${folder}/api.ts`;

function present(): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const nodes = await openapiTypes(document, { alphabetize: true, defaultNonNullable: false });
const text = `/** Generated from openapi.json. */\n${astToString(nodes)}`;
if (text !== present()) {
  mkdirSync(folder, { recursive: true });
  // In one step, because a test may write them while types are checked.
  const draft = `${folder}/api-${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
