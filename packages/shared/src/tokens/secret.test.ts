import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTokenSecret, withoutTokenSecrets } from './secret.ts';

const plain = fc.string({ maxLength: 60 }).filter((text) => !text.includes('gwt_'));

test('every token secret in a text is replaced, wherever it stands, and nothing else', () => {
  fc.assert(
    fc.property(plain, fc.array(plain, { maxLength: 3 }), (first, parts) => {
      const secrets = parts.map(() => createTokenSecret());
      const given = parts.map((part, index) => `${secrets[index] ?? ''}/${part}`).join('');
      const expected = parts.map((part) => `[token]/${part}`).join('');
      expect(withoutTokenSecrets(`${first}/${given}`)).toBe(`${first}/${expected}`);
    }),
  );
});

test('a text that is nothing but a secret is replaced, one that is a character short is none', () => {
  const secret = createTokenSecret();
  expect(withoutTokenSecrets(secret)).toBe('[token]');
  expect(withoutTokenSecrets(secret.slice(0, -1))).toBe(secret.slice(0, -1));
});
