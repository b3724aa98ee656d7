import { describe, expect, it } from '@jest/globals';
import { visibleText } from './visible-text.ts';

describe('a text from outside', () => {
  it('has characters that turn or hide text as codes', () => {
    expect(visibleText('https://a\u202Emoc.\u2066b\u200B\uFEFF')).toBe(
      String.raw`https://a\u202Emoc.\u2066b\u200B\uFEFF`,
    );
  });

  it('is the same otherwise, in every script and with joined emoji', () => {
    for (const text of ['', 'naïve שלום مرحبا', '👩‍👧 <img src=x>']) {
      expect(visibleText(text)).toBe(text);
    }
  });
});
