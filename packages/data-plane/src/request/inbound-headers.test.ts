import { describe, expect, it } from '@jest/globals';
import { FieldBlocks } from '@gateway/http/message/repeated-fields';
import { parseRequestHead } from '@gateway/http/message/request-head';
import { manualClock } from '@gateway/shared/test/manual-clock';
import fc from 'fast-check';
import { inboundHeaders } from './inbound-headers.ts';
import { REQUEST_FIELDS } from './request-fields.ts';

const name = fc.constantFrom(...Object.keys(REQUEST_FIELDS), 'HOST', 'Via', 'x-other');
const value = fc.constantFrom('1', '2', 'x-api-key, authorization', '100-continue', '');
/** Heads with the same names, whose values differ more or less often. */
const heads = fc
  .array(name, { maxLength: 7 })
  .chain((names) =>
    fc
      .array(fc.tuple(...names.map(() => value)), { minLength: 3, maxLength: 8 })
      .map((all) =>
        all.map((values) => values.map((one, at) => `${names[at]}: ${one}\r\n`).join('')),
      ),
  );

describe('the fields that the gateway acts on', () => {
  it('are the same for a request that has fields in common with others', () => {
    let common = 0;
    fc.assert(
      fc.property(heads, (blocks) => {
        const known = new FieldBlocks(manualClock(0));
        for (const block of blocks) {
          const head = parseRequestHead(`GET / HTTP/1.1\r\n${block}`, 100, known);
          if (typeof head === 'string') continue;
          if (head.common !== undefined) common += 1;
          const alone = inboundHeaders([...head.fields]);
          expect(inboundHeaders(head.fields, head.common)).toEqual({
            ...alone,
            common: head.common,
          });
        }
      }),
      { numRuns: 500 },
    );
    expect(common).toBeGreaterThan(500);
  });
});
