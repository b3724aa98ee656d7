import type { ApiDocument, Operation, Schema } from '../../../api/contract/document.ts';

/**
 * Where a call can have a value, as `path id`, `query environment`, `header If-Match` or `body versions[].service_id`.
 */
export type Place = string;

/** `GET /v1/services/{id}` */
export function endpointOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** The second part of the path: `services`. */
export function collectionOf({ path }: Pick<Operation, 'path'>): string {
  return path.split('/')[2] ?? '';
}

/** All places of an operation: its parameters, and each field of its body that has no fields of its own. */
export function placesOf(document: ApiDocument, operation: Operation): readonly Place[] {
  const parameters = (operation.parameters ?? []).map(({ in: where, name }) => `${where} ${name}`);
  const schema = operation.requestBody?.content['application/json']?.schema;
  const fields = schema === undefined ? [] : fieldsOf(document, schema, []);
  return [...new Set([...parameters, ...fields.map((field) => `body ${field}`)])];
}

/** @param within the schemas around this one, for schemas that contain themselves */
function fieldsOf(
  document: ApiDocument,
  schema: Schema,
  within: readonly Schema[],
): readonly string[] {
  const whole = document.resolve(schema);
  if (within.includes(whole)) return [];
  const inner = [...within, whole];
  const alternatives = ['oneOf', 'anyOf', 'allOf'].flatMap(
    (kind) => (whole[kind] ?? []) as readonly Schema[],
  );
  const items = whole['items'] as Schema | undefined;
  const properties = Object.entries((whole['properties'] ?? {}) as Record<string, Schema>);
  return [
    ...alternatives.flatMap((one) => fieldsOf(document, one, inner)),
    ...(items === undefined ? [] : fieldsOf(document, items, inner).map((field) => `[].${field}`)),
    ...properties.flatMap(([name, property]) => {
      const fields = fieldsOf(document, property, inner);
      if (fields.length === 0) return [name];
      return fields.map((field) => `${name}${field.startsWith('[]') ? '' : '.'}${field}`);
    }),
  ];
}
