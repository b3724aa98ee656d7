import fc from 'fast-check';
import { valuesOf, type KnownValues } from './arbitrary.ts';
import type { ApiDocument, Operation, Schema } from './document.ts';

export type Texts = Readonly<Record<string, unknown>>;

/** Headers whose values follow from the state of the gateway. */
const HEADERS: KnownValues = {
  Prefer: fc.constant('wait=0'),
  'If-Match': fc.constantFrom('*', '"0"'),
  'If-None-Match': fc.constantFrom('*', '"0"'),
  'Idempotency-Key': fc.uuid(),
};

/** The schema and the example of the body of an operation. */
export function bodyOf({ requestBody }: Operation): { schema: Schema; example?: unknown } {
  return requestBody?.content['application/json'] ?? { schema: {} };
}

/** The body of the document's example, with known values in place of its own. */
export function exampleBodies(operation: Operation, known: KnownValues): fc.Arbitrary<unknown> {
  const { example } = bodyOf(operation);
  if (example === undefined) return fc.constant(undefined);
  const fields = Object.entries(example as Texts).map(([name, value]) => [
    name,
    known[name] ?? fc.constant(value),
  ]);
  return fc.record(Object.fromEntries(fields) as KnownValues);
}

/** Bodies that match the schema of an operation. */
export function validBodies(
  operation: Operation,
  document: ApiDocument,
  known: KnownValues,
): fc.Arbitrary<unknown> {
  if (operation.requestBody === undefined) return fc.constant(undefined);
  const generated = valuesOf(bodyOf(operation).schema, document, known);
  return fc.oneof(exampleBodies(operation, known), generated);
}

/** Queries or headers that match the schemas of an operation. */
export function texts(
  place: 'query' | 'header',
  { parameters = [] }: Operation,
  document: ApiDocument,
  known: KnownValues,
): fc.Arbitrary<Texts> {
  const values = { ...known, ...HEADERS, cursor: fc.constant(undefined) };
  const own = parameters.filter((parameter) => parameter.in === place);
  const fields = own.map(({ name, required, schema }) => {
    const value = valuesOf(schema, document, values, name);
    return [name, required ? value : fc.option(value, { nil: undefined })];
  });
  return fc.record(Object.fromEntries(fields) as KnownValues);
}

/** The query parameters without which an operation does not succeed. A token of all environments must name one. */
export function requiredQuery({ parameters = [] }: Operation): string {
  const values: Texts = { environment: 'production', from: 1, to: 1 };
  const own = parameters.filter(
    ({ in: place, name, required }) =>
      place === 'query' && name in values && (required || name === 'environment'),
  );
  return queryOf(Object.fromEntries(own.map(({ name }) => [name, values[name]])));
}

/** The values that are defined, as strings. */
export function defined(values: Texts): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** A query with its question mark; empty if there are no values. */
export function queryOf(values: Texts): string {
  const query = new URLSearchParams(defined(values)).toString();
  return query === '' ? '' : `?${query}`;
}
