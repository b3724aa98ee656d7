import { PortBlock } from '../src/ports/port-block.ts';

/** Above the ports that are blocked in `fetch`, below those of `freePort` and those that the kernel gives away. */
const RANGE = { first: 12_000, blocks: 66, portsPerBlock: 120 };

const block = new PortBlock(RANGE, { pid: process.pid, start: 0 });

/**
 * A free port of 127.0.0.1 that stays free while the test does not listen on it. The kernel would give a port that it chose
 * for `listen(0)`, and that was closed, to any other server: a request to it would then reach the server of another suite.
 */
export async function keptPort(): Promise<number> {
  const port = await block.findFree();
  if (port === undefined) {
    throw new Error(`none of the ports ${block.first} to ${block.last} is free`);
  }
  return port;
}
