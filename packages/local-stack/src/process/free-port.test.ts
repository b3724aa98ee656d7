import { once } from 'node:events';
import { createServer } from 'node:net';
import { PortBlock } from '@gateway/shared/ports/port-block';
import { describe, expect, it } from '@jest/globals';
import { freePort, RANGE } from './free-port.ts';

const asked = (count: number) => Promise.all(Array.from({ length: count }, () => freePort()));

describe('a free port', () => {
  it('is a different one each time, from the block of this process', async () => {
    const ports = await asked(60);
    expect(new Set(ports).size).toBe(60);
    const { first, last } = new PortBlock(RANGE, { pid: process.pid, start: 0 });
    expect(ports.filter((port) => port < first || port > last)).toEqual([]);
  });

  it('is not a port that another process listens on', async () => {
    const taken = await freePort();
    const server = createServer().listen(taken, '127.0.0.1');
    await once(server, 'listening');
    // Goes once through the whole block.
    const ports = await asked(RANGE.portsPerBlock + 5);
    server.close();
    expect(ports).not.toContain(taken);
    expect(ports.every((port) => port < 32_768)).toBe(true);
  });
});
