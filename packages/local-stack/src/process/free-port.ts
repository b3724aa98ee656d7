import { randomInt } from 'node:crypto';
import { PortBlock } from '@gateway/shared/ports/port-block';
import { probePort } from '@gateway/shared/ports/probe-port';

/** Below the ports that Linux and macOS use for outgoing connections. */
export const RANGE = { first: 20_000, blocks: 97, portsPerBlock: 120 };
const TRIES = 19;

const block = new PortBlock(RANGE, { pid: process.pid, start: randomInt(RANGE.portsPerBlock) });

/**
 * Finds a free port of 127.0.0.1 that is not used for outgoing connections, or any free port if the block of this process
 * has none. Another process may still take it before the caller binds it.
 */
export async function freePort(): Promise<number> {
  return (await block.findFree(TRIES)) ?? probePort(0);
}
