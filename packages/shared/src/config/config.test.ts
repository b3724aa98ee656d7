import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, integerVariable, listVariable, parseEnvironment } from './environment.ts';
import { deriveKey, masterKeysVariable } from './master-keys.ts';

const schema = z.object({
  PORT: integerVariable(1, 65_535).default(8080),
  NAMES: listVariable.default([]),
  KEYS: masterKeysVariable,
});

const base64 = (byte: number) => Buffer.alloc(32, byte).toString('base64');

describe('parseEnvironment', () => {
  it('returns a frozen object with defaults for variables that are absent or empty', () => {
    const config = parseEnvironment(schema, { KEYS: `k1:${base64(1)}`, PORT: '', OTHER: 'x' });
    expect(config).toMatchObject({ PORT: 8080, NAMES: [] });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('names every invalid variable in one line, without its value', () => {
    const parse = () => parseEnvironment(schema, { PORT: '80x', KEYS: 'k1:secret' });
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(
      /^PORT: must be a whole number from 1 to 65535; KEYS: must be `id:base64`/,
    );
    expect(parse).not.toThrow(/80x|secret/);
    expect(() => parseEnvironment(schema, {})).toThrow('KEYS is not set');
  });
});

describe('master keys', () => {
  it('keep their order, newest first', () => {
    const keys = masterKeysVariable.parse(`k2:${base64(2)}, k1:${base64(1)}`);
    expect(keys.map((key) => key.id)).toEqual(['k2', 'k1']);
  });

  it.each([
    ['no id', base64(1)],
    ['a short key', `k1:${Buffer.alloc(16).toString('base64')}`],
    ['an id twice', `k1:${base64(1)},k1:${base64(2)}`],
  ])('refuse %s', (_case, text) => {
    expect(masterKeysVariable.safeParse(text).success).toBe(false);
  });

  it('derive a different key for each purpose', () => {
    const key = { id: 'k1', bytes: new Uint8Array(32) };
    expect(deriveKey(key, 'a').equals(deriveKey(key, 'b'))).toBe(false);
    expect(deriveKey(key, 'a').equals(deriveKey(key, 'a'))).toBe(true);
  });
});
