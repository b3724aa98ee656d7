import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Site } from '../lab/site.ts';
import { runH2Load } from './load/h2load.ts';
import { oneRoute } from './gateway-route.ts';
import { workloadPeers } from './peers.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

interface Size {
  readonly name: string;
  readonly bytes: number;
  readonly requests: number;
  readonly connections: number;
}

const SIZES: readonly Size[] = [
  { name: '10 KiB', bytes: 10 * KIB, requests: 6_000, connections: 32 },
  { name: '1 MiB', bytes: MIB, requests: 160, connections: 8 },
  { name: '100 MiB', bytes: 100 * MIB, requests: 4, connections: 2 },
];

/** Bodies of three sizes, to the upstream and to the caller. */
export const bodies: Workload = {
  name: 'bodies',
  unit: 'MiB',
  description:
    'Bodies of 10 KiB over 32 connections, of 1 MiB over 8, of 100 MiB over 2. nginx has ' +
    '`proxy_request_buffering off`; the gateway streams by default. p50 and p99 are those of a whole request.',
  tools: ['h2load'],
  upstream: 'node',
  peers: workloadPeers({ gateway: { configure: oneRoute({ max_body_bytes: 1024 * MIB }) } }),
  loads: SIZES.flatMap((size) => [bodyLoad(size, 'upstream'), bodyLoad(size, 'caller')]),
};

function bodyLoad({ name, bytes, requests, connections }: Size, to: string): WorkloadLoad {
  return {
    name: `${name} to the ${to}`,
    async run({ url, authorization }, { part, site }) {
      const target =
        to === 'upstream'
          ? { url, bodyFile: await bodyFile(site, bytes) }
          : { url: `${url}/bytes/${bytes}` };
      const outcome = await runH2Load({
        ...target,
        authorization,
        requests: Math.max(connections, Math.round(requests * part)),
        connections,
        version: 'http1',
        folder: site.folder,
        signal: site.signal,
      });
      return { ...outcome, units: (outcome.units * bytes) / MIB };
    },
  };
}

/** A file of so many zero bytes in the folder of the run. */
async function bodyFile({ folder }: Site, bytes: number): Promise<string> {
  const name = path.join(folder, `body-${bytes}`);
  const file = await open(name, 'w');
  await file.truncate(bytes);
  await file.close();
  return name;
}
