import fc from 'fast-check';
import { z } from 'zod';
import { createTestAuthority } from '@gateway/shared/test/certificates';

/** Values of fields, made from their definitions: a new field is generated without a change here. */

const pair = createTestAuthority('fields').issue(['upstream.example']);

/** Of these texts a field gets those that it accepts, and its examples. */
const TEXTS = [
  'a',
  'eu-west',
  'GET',
  'PROPFIND',
  '/up',
  'http://a.example',
  'https://b.example:8443/v1',
  'https://login.example/keys?all=1',
  'X-Key',
  'grün, "quoted" \\ and 長い',
  pair.certPem,
  pair.keyPem,
];

/** Of these numbers and its own bounds a field gets those that it accepts. */
const NUMBERS = [0, 1, 2, 100, 425, 429, 503, 1000, 0.25, 2 ** 40];

/** Values that the field accepts. @throws Error if none of those above is accepted */
export function anyValueOf(field: z.ZodType): fc.Arbitrary<unknown> {
  return valueOf(field).filter((value) => field.safeParse(value).success);
}

/** Objects with any of these fields. */
export function anyOfFields(
  shape: Readonly<Record<string, z.ZodType>>,
): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(shape).map(([name, field]) => [name, anyValueOf(field)]);
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [],
  });
}

function valueOf(field: z.ZodType): fc.Arbitrary<unknown> {
  const inner = (nested: unknown) => valueOf(nested as z.ZodType);
  if (
    field instanceof z.ZodDefault ||
    field instanceof z.ZodPrefault ||
    field instanceof z.ZodOptional
  ) {
    return inner(field.unwrap());
  }
  if (field instanceof z.ZodNullable) return fc.option(inner(field.unwrap()), { nil: null });
  if (field instanceof z.ZodPipe) {
    return inner(field.in instanceof z.ZodTransform ? field.out : field.in);
  }
  if (field instanceof z.ZodUnion) return fc.oneof(...field.options.map(inner));
  if (field instanceof z.ZodArray) {
    return fc.uniqueArray(inner(field.element), { maxLength: 3, comparator: 'SameValueZero' });
  }
  if (field instanceof z.ZodRecord) {
    return fc.dictionary(inner(field.keyType) as fc.Arbitrary<string>, inner(field.valueType), {
      maxKeys: 2,
    });
  }
  if (field instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(field.shape);
    const required = shape.flatMap(([name, one]) =>
      one.safeParse(undefined).success ? [] : [name],
    );
    const values = Object.fromEntries(shape.map(([name, one]) => [name, valueOf(one)]));
    return fc.record(values, { requiredKeys: required });
  }
  return fc.constantFrom(...scalarsOf(field));
}

function scalarsOf(field: z.ZodType): readonly unknown[] {
  const bounds = field instanceof z.ZodNumber ? [field.minValue, field.maxValue] : [];
  const choices = field instanceof z.ZodEnum ? field.options : [];
  const literals = field instanceof z.ZodLiteral ? [...field.values] : [];
  const examples = field.meta()?.examples ?? [];
  const given = [true, false, ...TEXTS, ...NUMBERS, ...bounds, ...choices, ...literals];
  const accepted = [...new Set([...given, ...(examples as unknown[])])].filter(
    (value) => field.safeParse(value).success,
  );
  if (accepted.length === 0) throw new Error('no value for a field; add one that it accepts');
  return accepted;
}
