import { refName, type ApiResponse, type OpenApi, type Schema } from './openapi.ts';
import type { PlacedOperation } from './operation-section.ts';

/** Envelopes around what is answered; each operation says what is in it. */
const ENVELOPE = /Page$|^Error$|^Problem$/;

/**
 * The objects that these operations answer with or take, and those within them, by name: each has a section on the page. A body
 * itself stands at its operation.
 */
export function objectsOf(operations: readonly PlacedOperation[], api: OpenApi): readonly string[] {
  const found = new Set<string>();
  const add = (schema: Schema | undefined): void => {
    for (const name of refsIn(schema)) {
      if (found.has(name)) continue;
      found.add(name);
      add(api.components.schemas[name]);
    }
  };
  for (const { operation } of operations) {
    const body = operation.requestBody?.content['application/json']?.schema;
    if (body !== undefined) add(api.components.schemas[refName(body) ?? '']);
    for (const response of Object.values<ApiResponse>(operation.responses)) {
      for (const { schema } of Object.values(response.content ?? {})) add(schema);
    }
  }
  return [...found].filter((name) => !ENVELOPE.test(name));
}

function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const name = '$ref' in value ? refName(value as Schema) : undefined;
  return [...(name === undefined ? [] : [name]), ...Object.values(value).flatMap(refsIn)];
}
