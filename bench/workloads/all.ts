import { StartError } from '@gateway/tools/process/errors';
import { bodies } from './bodies.ts';
import { connections } from './connections.ts';
import { events } from './events.ts';
import { http2 } from './http2.ts';
import { idle } from './idle.ts';
import { jwt } from './jwt.ts';
import { retries } from './retries.ts';
import { tls } from './tls.ts';
import { websocket } from './websocket.ts';
import type { Workload } from './workload.ts';

const ALL: readonly Workload[] = [
  bodies,
  connections,
  idle,
  tls,
  http2,
  websocket,
  events,
  jwt,
  retries,
];

/**
 * The workloads with these names.
 *
 * @param names empty: all of them
 * @throws {StartError} if a name is not the name of a workload
 */
export function namedWorkloads(names: readonly string[]): readonly Workload[] {
  const known = ALL.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new StartError(
      `unknown workload: ${unknown.join(', ')}; the workloads are: ${known.join(', ')}`,
    );
  }
  return ALL.filter(({ name }) => names.length === 0 || names.includes(name));
}
