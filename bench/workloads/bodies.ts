import { open } from 'node:fs/promises';
import path from 'node:path';
import { oneRoute } from '../peers/gateway-configuration.ts';
import { runH2Load } from './load/h2load.ts';
import { proxies, type Workload, type WorkloadLoad } from './workload.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bodies of three sizes, to the upstream and to the caller. */
export const bodies: Workload = {
  name: 'bodies',
  unit: 'MiB',
  description:
    'Bodies of 10 KiB over 32 connections, of 1 MiB over 8, of 100 MiB over 2. nginx has ' +
    '`proxy_request_buffering off`; the gateway streams by default. p50 and p99 are those of a whole request.',
  upstream: 'node',
  peers: proxies({}, { configure: oneRoute({ max_body_bytes: 1024 * MIB }) }),
  loads: [
    ...bothWays('10 KiB', 10 * KIB, 6_000, 32),
    ...bothWays('1 MiB', MIB, 160, 8),
    ...bothWays('100 MiB', 100 * MIB, 4, 2),
  ],
};

function bothWays(
  size: string,
  bytes: number,
  requests: number,
  connections: number,
): WorkloadLoad[] {
  return ['upstream', 'caller'].map((to) => ({
    name: `${size} to the ${to}`,
    async run(peer, part, { folder, signal }) {
      const isSent = to === 'upstream';
      const outcome = await runH2Load({
        url: isSent ? peer.url : `${peer.url}/bytes/${bytes}`,
        ...(isSent && { bodyFile: await bodyFile(folder, bytes) }),
        authorization: peer.authorization,
        requests: Math.max(connections, Math.round(requests * part)),
        connections,
        version: 'http1',
        folder,
        signal,
      });
      return { ...outcome, units: (outcome.units * bytes) / MIB };
    },
  }));
}

/** A file of so many zero bytes. */
async function bodyFile(folder: string, bytes: number): Promise<string> {
  const name = path.join(folder, `body-${bytes}`);
  const file = await open(name, 'w');
  await file.truncate(bytes);
  await file.close();
  return name;
}
