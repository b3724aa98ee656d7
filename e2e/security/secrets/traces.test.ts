import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { tracesIn } from './traces.ts';

describe('the search for traces of a secret', () => {
  const secret = 'mark3r-of-a-secret';

  it('finds it plain, in hex, and in base64 wherever it stands in what was encoded', () => {
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

  it('finds nothing where there is nothing', () => {
    expect(tracesIn(Buffer.from('mark3r-of-another secret'), [secret])).toEqual([]);
  });
});
