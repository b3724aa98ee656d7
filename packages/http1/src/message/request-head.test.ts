import { describe, expect, it } from '@jest/globals';
import { watchMemory } from '@gateway/shared/test/memory';
import { parseRequestHead } from './request-head.ts';

const MIB = 1024 * 1024;
const HEADS = 400;
const VALUE = 'v'.repeat(128 * 1024);

/** As a connection reads it: a string that nothing else is a part of. */
function headWith(name: string): string {
  const lines = ['GET / HTTP/1.1', 'Host: gateway.test', `${name}: 1`, `Authorization: ${VALUE}`];
  return Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1').toString('latin1');
}

describe('a head that was read', () => {
  it('leaves nothing in memory, whatever its fields are called', () => {
    const memory = watchMemory();
    for (let index = 0; index < HEADS; index += 1) {
      const name = `X-A-Name-That-Nobody-Sent-Before-${index}`;
      expect(parseRequestHead(headWith(name), 128)).toMatchObject({ url: '/' });
    }
    // Kept whole they would be 50 MiB; what else goes on in the process is some.
    expect(memory.growth().liveBytes).toBeLessThan(16 * MIB);
  });
});
