import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { exampleId } from '@gateway/shared/definitions/fields';
import type { Json, Components } from './components.ts';

export const EXAMPLE_REQUEST_ID = exampleId('req');

/**
 * An example of a schema: the one that it has, else one that is composed of the examples of its fields.
 *
 * @throws if a field has none
 */
export function exampleOf(schema: Json, components: Components, path = ''): unknown {
  const resolved = components.resolve(schema);
  const { examples, type, properties, items, const: only } = resolved;
  if (Array.isArray(examples)) return examples[0];
  if (only !== undefined) return only;
  if (type === 'object' && properties !== undefined) {
    const fields = Object.entries(properties as Record<string, Json>);
    return Object.fromEntries(
      fields.map(([name, field]) => [name, exampleOf(field, components, `${path}.${name}`)]),
    );
  }
  if (type === 'array') return [exampleOf(items as Json, components, `${path}[]`)];
  const [first] = (resolved['anyOf'] ?? resolved['oneOf'] ?? []) as readonly Json[];
  if (first !== undefined) return exampleOf(first, components, path);
  throw new Error(`no example for ${path}`);
}

/** The body of a response with this error. */
export function errorExample(code: ErrorCode): Json {
  const error = { code, message: ERROR_TABLE[code].when, request_id: EXAMPLE_REQUEST_ID };
  const details = [{ path: 'timeout_ms', message: 'must be a whole number from 1 to 300000' }];
  return { error: code === 'invalid_request' ? { ...error, details } : error };
}

/** The reference to the example of an error. */
export function exampleRef(code: ErrorCode): string {
  return `#/components/examples/${code}`;
}
