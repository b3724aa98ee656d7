import fc from 'fast-check';
import type { ApiDocument, Schema } from './document.ts';

/** Values of fields of these names, in place of generated ones: what exists, and addresses that may be used. */
export type KnownValues = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Values that match a schema. Fields that may only be read are left out. */
export function valuesOf(
  schema: Schema,
  document: ApiDocument,
  known: KnownValues,
  name = '',
): fc.Arbitrary<unknown> {
  const resolved = document.resolve(schema);
  const given = known[name];
  if (given !== undefined) return given;
  const generated = generate(resolved, document, known, name);
  const { examples } = resolved;
  if (!Array.isArray(examples) || resolved['properties'] !== undefined) return generated;
  return fc.oneof(fc.constantFrom(...(examples as unknown[])), generated);
}

function generate(
  schema: Schema,
  document: ApiDocument,
  known: KnownValues,
  name: string,
): fc.Arbitrary<unknown> {
  const inner = (one: unknown, of = name) => valuesOf(one as Schema, document, known, of);
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const choices = [schema['anyOf'], schema['oneOf']].flat().filter(hasType);
  if (choices.length > 0) return fc.oneof(...choices.map((one) => inner(one)));
  switch (schema['type']) {
    case 'object':
      return objects(schema, inner);
    case 'array': {
      const { minItems = 0, maxItems = 3 } = schema as { minItems?: number; maxItems?: number };
      const bounds = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) };
      return fc.array(inner(schema['items']), bounds);
    }
    case 'string':
      return strings(schema);
    case 'integer': {
      const { minimum = 0, maximum = 1e9 } = schema as { minimum?: number; maximum?: number };
      return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) });
    }
    case 'number':
      return fc.integer({ min: -1000, max: 1000 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** A choice may also only demand fields, which says nothing of the value. */
function hasType(schema: unknown): schema is Schema {
  const keys = Object.keys(schema ?? {});
  return keys.some((key) => key !== 'required');
}

function objects(
  schema: Schema,
  inner: (one: unknown, of: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const { properties, required = [] } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  if (properties === undefined) {
    const value = inner(schema['additionalProperties'] ?? { type: 'string' }, '');
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value, { maxKeys: 2 });
  }
  const fields = Object.entries(properties).filter(([, field]) => field['readOnly'] !== true);
  const values = Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      required.includes(name)
        ? inner(field, name)
        : // Most bodies have few of many optional fields.
          fc.option(inner(field, name), { nil: undefined, freq: 1 }),
    ]),
  );
  return fc.record(values).map((record) => JSON.parse(JSON.stringify(record)) as unknown);
}

function strings(schema: Schema): fc.Arbitrary<unknown> {
  const {
    format,
    pattern,
    examples,
    maxLength = 40,
  } = schema as {
    format?: string;
    pattern?: string;
    examples?: unknown[];
    maxLength?: number;
  };
  if (format === 'date-time') {
    const bounds = {
      min: new Date('2026-01-01'),
      max: new Date('2030-01-01'),
      noInvalidDate: true,
    };
    return fc.date(bounds).map((date) => date.toISOString());
  }
  if (pattern === undefined) return fc.string({ maxLength: Math.min(maxLength, 40) });
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'));
  } catch {
    // fast-check does not generate for lookaheads.
    return fc.constantFrom(...(examples ?? ['x']));
  }
}

const WRONG = fc.constantFrom<unknown>(null, true, -1, 1.5, 1e12, '', 'x'.repeat(9000), [], {}, [
  [],
]);

/** Bodies that are not those of the schema, mostly: with a field too many, too few or of another type. */
export function brokenBodies(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.nat(), WRONG, fc.constantFrom('add', 'remove', 'replace', 'all'))
    .map(([body, at, wrong, how]) => {
      if (how === 'all' || typeof body !== 'object' || body === null) return wrong;
      const fields = { ...(body as Record<string, unknown>) };
      const names = Object.keys(fields);
      const name = names[at % Math.max(1, names.length)] ?? 'unknown_field';
      if (how === 'add') return { ...fields, unknown_field: wrong };
      if (how === 'replace') return { ...fields, [name]: wrong };
      return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
    });
}
