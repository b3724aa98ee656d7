import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { FaultRun } from '../harness/fault-run.ts';
import type { FaultResult, Scenario } from '../harness/scenario.ts';
import { startCountingUpstream, type UpstreamWorld } from '../harness/upstream-world.ts';

const TTL_SECONDS = 1;
const REPAIR = { deadlineMs: 60_000, intervalMs: 50 };
const OLD = '127.0.0.1';
const NEW = '::1';

interface NamedService {
  readonly hostname: string;
  readonly port: number;
  readonly served: () => number;
  readonly run: FaultRun;
}

let made = 0;

/** A service with a host name that leads to an upstream at `OLD`, under load. */
async function withNamedService(
  { world, names }: UpstreamWorld,
  fault: string,
  play: (service: NamedService) => Promise<FaultResult>,
): Promise<FaultResult> {
  const hostname = `upstream-${(made += 1)}.test`;
  names.names.set(hostname, { addresses: [OLD], ttlSeconds: TTL_SECONDS });
  const old = await startCountingUpstream(OLD);
  try {
    const { id } = await world.gateway.service({ url: `http://${hostname}:${old.port}` });
    const { name } = await world.gateway.route({ service_id: id });
    await world.changeArrives();
    const run = await world.begin(fault, { getRoute: String(name) });
    return await play({ hostname, port: old.port, served: () => old.served, run });
  } finally {
    await old.close();
  }
}

const staleNames = ({ world }: UpstreamWorld) =>
  metric(String(world.dataPlanes[0]?.adminUrl), 'gateway_dns_names{state="stale"}');

export const nameChanges: Scenario<UpstreamWorld> = {
  fault: 'the address of an upstream name changes, the old address still answers',
  run(upstreams) {
    return withNamedService(upstreams, this.fault, async ({ hostname, port, served, run }) => {
      const moved = await startCountingUpstream(NEW, port);
      try {
        upstreams.names.names.set(hostname, { addresses: [NEW], ttlSeconds: TTL_SECONDS });
        await run.repair(() =>
          eventually(async () => {
            const before = [served(), moved.served] as const;
            await run.load.more(10);
            if (served() > before[0]) throw new Error('the old address is used');
            if (moved.served === before[1]) throw new Error('the new address is not used');
          }, REPAIR),
        );
        return await run.finish();
      } finally {
        await moved.close();
      }
    });
  },
};

/** @param startFailure makes the name fail, and gives the repair */
function nameFailure(
  fault: string,
  startFailure: (upstreams: UpstreamWorld, hostname: string) => () => void,
): Scenario<UpstreamWorld> {
  return {
    fault,
    run(upstreams, outageMs) {
      return withNamedService(upstreams, fault, async ({ hostname, served, run }) => {
        const endFailure = startFailure(upstreams, hostname);
        await eventually(async () => {
          if ((await staleNames(upstreams)) === 0) throw new Error('the name resolves');
        }, REPAIR);
        const before = served();
        await run.outage(outageMs);
        run.expectations.hold(served() > before, 'the last good address was not used');
        const message = 'DNS lookup failed; using the last good addresses';
        run.expectations.hold(
          await hasLogged(upstreams.world.dataPlanes[0], message),
          'the log does not say that the name does not resolve',
        );
        await run.repair(() => {
          endFailure();
          return eventually(async () => {
            if ((await staleNames(upstreams)) > 0) throw new Error('the name does not resolve');
          }, REPAIR);
        });
        return run.finish();
      });
    },
  };
}

export const nameDenied = nameFailure(
  'the DNS server denies the name of an upstream',
  ({ names }, hostname) => {
    const entry = names.names.get(hostname);
    names.names.delete(hostname);
    return () => {
      if (entry !== undefined) names.names.set(hostname, entry);
    };
  },
);

export const nameServerSilent = nameFailure('the DNS server does not answer', ({ names }) => {
  names.silent = true;
  return () => {
    names.silent = false;
  };
});
