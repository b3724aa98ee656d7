import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inboundField } from './inbound-fields.ts';

const names = ['transfer-encoding', 'content-length', 'keep-alive', 'x-request-id', 'x-gateway-a'];
const separators = fc.stringMatching(/^[-_]{1,5}$/);

describe('a request field', () => {
  it('is dropped if runs of dashes and underscores are all that sets it apart from a dropped one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(separators, { minLength: 2, maxLength: 2 }),
        fc.boolean(),
        (name, runs, upper) => {
          let index = 0;
          const alias = name.replaceAll('-', () => runs[index++] ?? '-');
          expect(inboundField(upper ? alias.toUpperCase() : alias).passed).toBe(false);
        },
      ),
    );
  });

  it('is forwarded if its name only resembles a dropped one', () => {
    for (const name of ['x--custom', 'content-lengths', 'contentlength', 'transfer-encodings']) {
      expect(inboundField(name).passed).toBe(true);
    }
  });
});
