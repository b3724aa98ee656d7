import { describe, expect, it } from '@jest/globals';
import { fieldNameAt } from './field-names.ts';

const at = (text: string) => fieldNameAt(`${text}: x`, 0, text.length);

describe('a field name in a head', () => {
  it('is returned unchanged', () => {
    for (const name of ['Host', 'host', 'HOST', 'X-New-Name', 'a', 'X'.repeat(100)]) {
      expect(at(name)).toBe(name);
    }
  });

  it('is empty if it is not a token', () => {
    for (const name of ['', 'a b', 'Ho t', 'a\0', '(a)']) expect(at(name)).toBe('');
  });

  it('is found after any names of the same length', () => {
    for (let index = 0; index < 10_000; index += 1) at(`x${String(index).padStart(3, '0')}`);
    expect([at('Host'), at('host'), at('x001')]).toEqual(['Host', 'host', 'x001']);
  });
});
