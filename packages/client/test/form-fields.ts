import { readFileSync } from 'node:fs';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<'RouteCreate' | 'ServiceCreate', Required<Schema>>>;
  };
}

/** What neither forms nor options use. */
const LEFT_OUT = new Set(['examples', 'pattern', 'additionalProperties', 'maxLength']);

/** The JSON schemas of the fields of routes and services, of `openapi.json`. */
export function formFields(): unknown {
  const text = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
  const { RouteCreate, ServiceCreate } = (JSON.parse(text) as Document).components.schemas;
  const fieldsOf = ({ properties: { environment: _named, ...fields } }: Required<Schema>) =>
    briefOf(fields);
  return { route: fieldsOf(RouteCreate), service: fieldsOf(ServiceCreate) };
}

function briefOf(schemas: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schemas, (key, value: unknown) => (LEFT_OUT.has(key) ? undefined : value)),
  );
}
