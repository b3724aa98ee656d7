import { expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import {
  startStreamServer,
  streamWorld,
  type CallerProtocol,
  type UpstreamProtocol,
} from './stream-world.ts';

interface StreamOptions {
  /** Of the caller's request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the upstream reads the request; true unless given. */
  readonly reads?: boolean;
}

/** A gateway for streams, its server, and a caller whose request has begun. */
export async function openStream(
  opened: ReturnType<typeof closeAfterEach>,
  [protocol, upstream]: readonly [CallerProtocol, UpstreamProtocol],
  route: Partial<SnapshotRoute> = {},
  { headers, reads = true }: StreamOptions = {},
) {
  const server = opened(await startStreamServer(upstream, reads));
  const world = await streamWorld(opened, server, route);
  const caller = world.call(protocol, headers);
  const record = () => world.gateway.recordOf(String(caller.headers['x-request-id']));
  return { ...world, server, caller, record };
}

/** The same after the caller has sent `ask` and received `answer`. */
export async function beginStream(...given: Parameters<typeof openStream>) {
  const world = await openStream(...given);
  const { caller, server } = world;
  caller.send('ask');
  const stream = await server.next();
  stream.response.write('answer');
  await eventually(() => expect(caller.text).toBe('answer'));
  return { ...world, stream };
}
