import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  booleanField,
  choiceField,
  integerField,
  listField,
  objectField,
  ratioField,
  regionField,
} from './fields.ts';
import { complete, servedAs, servedShape } from './served-shape.ts';

const fields = {
  size: integerField(5, 9).default(7),
  count: integerField(0, 9).nullable().default(null),
  mode: choiceField(['fast', 'safe']).default('safe'),
  on: booleanField().default(false),
  share: ratioField().default(1),
  regions: listField(regionField, { min: 0, max: 2 }).default([]),
  inner: objectField({ low: integerField(1, 9).default(1) }).prefault({}),
};
const served = z.object(servedShape(fields));
const usual = {
  size: 7,
  count: null,
  mode: 'safe',
  on: false,
  share: 1,
  regions: [],
  inner: { low: 1 },
};

describe('the served form of a field', () => {
  it('has the default of the definition, which no two routes share', () => {
    expect(served.parse({})).toEqual(usual);
    expect(served.parse({ inner: {} })).toEqual(usual);
    expect(served.parse({}).regions).not.toBe(served.parse({}).regions);
    expect(served.parse({}).inner).not.toBe(served.parse({}).inner);
  });

  it('accepts what a later release may allow: wider bounds, other characters, unknown fields', () => {
    const later = {
      ...usual,
      size: 10_000,
      count: 10_000,
      regions: ['EU', 'b', 'c'],
      inner: { low: 99 },
    };
    expect(served.parse({ ...later, inner: { low: 99, later: true }, later: true })).toEqual(later);
    expect(served.parse({ ...usual, size: 1 }).size).toBe(1);
  });

  it('refuses what no data plane could use', () => {
    for (const [name, value] of [
      ['size', 0],
      ['size', 1.5],
      ['size', null],
      ['count', -1],
      ['mode', 'later'],
      ['on', 'true'],
      ['share', 1.1],
      ['regions', null],
      ['inner', null],
    ] as const) {
      const found = served.safeParse({ ...usual, [name]: value });
      expect([name, value, found.success]).toEqual([name, value, false]);
    }
    const least = z.object(servedShape({ names: listField(regionField, { min: 1, max: 2 }) }));
    expect(least.safeParse({ names: [] }).success).toBe(false);
  });

  it('may be written by hand within its default', () => {
    const form = servedAs(fields.regions, z.array(z.string().regex(/^eu-/)));
    expect(form.parse(undefined)).toEqual([]);
    expect(form.safeParse(['us-east']).success).toBe(false);
    const other = { one: z.union([z.string(), z.number()]) };
    expect(() => servedShape(other)).toThrow('must be written by hand');
    expect(servedShape(other, { one: z.string() }).one.safeParse(1).success).toBe(false);
  });
});

it('a schema of complete values reads them as the schema does, and refuses others', () => {
  const list = z.object({ items: z.array(served).min(1) });
  const whole = complete(list);
  expect(whole.parse({ items: [usual] })).toEqual({ items: [usual] });
  expect(whole.safeParse({ items: [] }).success).toBe(false);
  for (const name of Object.keys(usual)) {
    const { [name as 'size']: _left, ...rest } = usual;
    expect([name, whole.safeParse({ items: [rest] }).success]).toEqual([name, false]);
  }
});
