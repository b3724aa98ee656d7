import { expect, it } from '@jest/globals';
import { healthRequest, servingStatusOf } from './health-messages.ts';

const hex = (buffer: Buffer) => buffer.toString('hex');

it('writes the request for the server as a whole and for a service', () => {
  expect(hex(healthRequest(''))).toBe('0000000000');
  expect(hex(healthRequest('a.B'))).toBe('0000000005' + '0a03612e42');
  const long = healthRequest('x'.repeat(256));
  expect(hex(long.subarray(0, 8))).toBe('0000000103' + '0a8002');
  expect(long).toHaveLength(5 + 3 + 256);
});

it.each([
  ['0000000000', 'unknown'],
  ['00000000020800', 'unknown'],
  ['00000000020801', 'serving'],
  ['00000000020802', 'not_serving'],
  ['00000000020803', 'service_unknown'],
  ['00000000020804', undefined],
  ['01000000020801', undefined],
  ['000000000208', undefined],
  ['000000000208010801', undefined],
  ['00000000021001', undefined],
  ['00000000', undefined],
  ['', undefined],
])('reads the response %s as %s', (text, status) => {
  expect(servingStatusOf(Buffer.from(text, 'hex'))).toBe(status);
});
