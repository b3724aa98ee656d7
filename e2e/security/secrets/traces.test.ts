import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { tracesIn } from './traces.ts';

describe('findTraces', () => {
  const secret = 'mark3r-of-a-secret';

  it('finds a secret in plain text, in hex, and in base64 at any offset', () => {
    const any = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(any, any, (before, after) => {
        const whole = Buffer.concat([before, Buffer.from(secret), after]);
        for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const) {
          expect(tracesIn(whole.toString(encoding), ['another', secret])).toEqual([1]);
        }
      }),
    );
  });

  it('finds nothing in a text without the secret', () => {
    expect(tracesIn(Buffer.from('mark3r-of-another secret'), [secret])).toEqual([]);
  });
});
