import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { applyChange, changeShape, columnOf, viewShape, withDefaults } from './derived-schemas.ts';
import {
  booleanField,
  choiceField,
  integerField,
  listField,
  objectField,
  ratioField,
  regionField,
} from './fields.ts';

const fields = {
  size: integerField(1, 9).default(3),
  mode: choiceField(['fast', 'safe']).default('safe'),
  limits: objectField({
    low: integerField(0, 9).default(1),
    high: integerField(0, 9).default(2),
  }).prefault({}),
};
const change = objectField(changeShape(fields));
const view = z.object(viewShape(fields));

describe('schemas derived from the fields of a resource', () => {
  it('make every field of a change optional, without a default', () => {
    expect(change.parse({})).toEqual({});
    expect(change.parse({ limits: { low: 5 } })).toEqual({ limits: { low: 5 } });
    expect(change.safeParse({ size: 10 }).success).toBe(false);
    expect(change.safeParse({ limits: { middle: 1 } }).success).toBe(false);
  });

  it('say how a field is stored in a column', () => {
    const columns = Object.values({
      ...fields,
      on: booleanField().default(false),
      share: ratioField().nullable().default(null),
      regions: listField(regionField, { min: 0, max: 9 }).default(['a']),
      objects: z.array(fields.limits).nullable().default([]),
    }).map(columnOf);
    expect(columns).toEqual([
      { type: 'integer', isNullable: false, usual: 3 },
      { type: 'text', isNullable: false, usual: 'safe' },
      { type: 'jsonb', isNullable: false, usual: { low: 1, high: 2 } },
      { type: 'boolean', isNullable: false, usual: false },
      { type: 'double precision', isNullable: true, usual: null },
      { type: 'text[]', isNullable: false, usual: ['a'] },
      { type: 'jsonb', isNullable: true, usual: [] },
    ]);
    expect(() => columnOf(integerField(1, 9))).toThrow('a new field needs a default');
  });

  it('merge an object and replace everything else', () => {
    const before = objectField(fields).parse({});
    expect(applyChange(fields, before, change.parse({ size: 4, limits: { low: 5 } }))).toEqual({
      size: 4,
      mode: 'safe',
      limits: { low: 5, high: 2 },
    });
  });

  it('show an unknown choice of a newer replica, but no unknown field', () => {
    const stored = { size: 3, mode: 'newer', limits: { low: 1, high: 2, newer: 3 }, secret: 'x' };
    expect(view.parse(stored)).toEqual({ size: 3, mode: 'newer', limits: { low: 1, high: 2 } });
    expect(z.toJSONSchema(view)).toMatchObject({
      properties: { mode: { enum: ['fast', 'safe'] } },
    });
  });

  it('refuse a row of a wrong type', () => {
    expect(() => view.parse({ size: '3', mode: 'safe', limits: { low: 1, high: 2 } })).toThrow();
    expect(() => view.parse({ size: 3, mode: 'safe' })).toThrow();
  });

  it('add the default of a setting to a row that is older than the setting', () => {
    expect(withDefaults(fields, { size: 5, mode: null })).toEqual({
      size: 5,
      mode: 'safe',
      limits: { low: 1, high: 2 },
    });
    expect(withDefaults(fields, { limits: { high: 7, former: 1 } })).toEqual({
      size: 3,
      mode: 'safe',
      limits: { low: 1, high: 7, former: 1 },
    });
  });
});
