import { describe, expect, it } from '@jest/globals';
import { watchMemory } from '@gateway/shared/test/memory';
import { parseRequestHead } from './request-head.ts';

const MIB = 1024 * 1024;
const HEADS = 400;
const VALUE = 'v'.repeat(128 * 1024);

/** A separate string, like the ones that a connection reads. */
function headWith(name: string): string {
  const lines = ['GET / HTTP/1.1', 'Host: gateway.test', `${name}: 1`, `Authorization: ${VALUE}`];
  return Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1').toString('latin1');
}

describe('a head that was read', () => {
  it('is not kept in memory, whatever its field names', () => {
    const memory = watchMemory();
    for (let index = 0; index < HEADS; index += 1) {
      const name = `X-A-Name-That-Nobody-Sent-Before-${index}`;
      expect(parseRequestHead(headWith(name), 128)).toMatchObject({ url: '/' });
    }
    // If they were kept it would be 50 MiB; the rest of the process needs some memory too.
    expect(memory.growth().liveBytes).toBeLessThan(16 * MIB);
  });
});
