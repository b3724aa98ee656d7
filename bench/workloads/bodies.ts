import { oneRoute } from '../peers/gateway-configuration.ts';
import { h2Load } from './load/h2load.ts';
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
  peers: proxies({}, { configure: oneRoute({ route: { max_body_bytes: 1024 * MIB } }) }),
  loads: [
    ...bothWays('10 KiB', 10 * KIB, 6_000, 32),
    ...bothWays('1 MiB', MIB, 160, 8),
    ...bothWays('100 MiB', 100 * MIB, 4, 2),
  ],
};

function bothWays(size: string, bytes: number, requests: number, connections: number) {
  const shape = { requests, connections, version: 'http1' as const };
  return [
    h2Load({ ...shape, name: `${size} to the upstream`, bodyBytes: bytes }),
    h2Load({ ...shape, name: `${size} to the caller`, path: `/bytes/${bytes}` }),
  ].map(({ name, run }): WorkloadLoad => ({
    name,
    async run(...load) {
      const outcome = await run(...load);
      return { ...outcome, units: (outcome.units * bytes) / MIB };
    },
  }));
}
