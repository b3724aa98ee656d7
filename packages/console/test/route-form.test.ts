import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { NEW_ROUTE, ROUTE_DEFAULTS } from '../src/pages/route-form/route-draft.ts';

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly components: { readonly schemas: { readonly RouteCreate: Required<Schema> } };
}

describe('the form of a route', () => {
  it('has every field of the API, and begins with its defaults', async () => {
    const text = await readFile(new URL('../../client/openapi.json', import.meta.url), 'utf8');
    const { properties } = (JSON.parse(text) as Document).components.schemas.RouteCreate;
    expect(Object.keys(NEW_ROUTE).toSorted()).toEqual(Object.keys(properties).toSorted());
    const defaults = Object.entries(properties).flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, defaultOf(schema)]],
    );
    expect(ROUTE_DEFAULTS).toEqual(Object.fromEntries(defaults));
  });
});

function defaultOf(schema: Schema): unknown {
  if (schema.properties === undefined) return schema.default;
  const fields = Object.entries(schema.properties);
  return Object.fromEntries(fields.map(([name, field]) => [name, field.default]));
}
