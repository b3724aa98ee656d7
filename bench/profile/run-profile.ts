import { freePort } from '@gateway/local-stack/process/free-port';
import { z } from 'zod';
import { withLab, type Lab } from '../lab/lab.ts';
import { runLoad } from '../load/wrk.ts';
import { namedRow } from '../peers/all.ts';
import { gatewayRows } from '../peers/gateway.ts';
import type { PeerKind } from '../peers/peer.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { breakDown, cpuProfileSchema, type Breakdown, type Share } from './cpu-profile.ts';
import { connectInspector } from './inspector.ts';

/** What `npm run bench -- profile` is given. */
export interface ProfileOptions {
  /** The row of the gateway whose load is profiled. */
  readonly row: string;
  /** Whether docs/understand/benchmarks.md gets the tables. */
  readonly write: boolean;
}

/** Most of it is for a row with 10 000 routes. */
const TIMEOUT_MS = 300_000;
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 4;
const PROFILE_SECONDS = 5;
const SAMPLE_INTERVAL_US = 250;
const TOP_FUNCTIONS = 20;
const MIN_SHARE = 0.002;

const profileReply = z.object({ profile: cpuProfileSchema });

/** Profiles the data plane under the load of the bench and prints where the CPU time goes. */
export async function runProfile({ row, write }: ProfileOptions): Promise<void> {
  const port = await freePort();
  const rows = gatewayRows({ nodeArgs: [`--inspect=127.0.0.1:${port}`], fromSources: true });
  const kind = namedRow(rows, row);
  await withLab(TIMEOUT_MS, async (lab) => {
    const { parts, functions } = await profileRow(lab, kind, port);
    const large = parts.filter(({ share }) => share >= MIN_SHARE);
    const text = [
      table('part, by self time', large),
      table('function, by self time', functions.slice(0, TOP_FUNCTIONS)),
    ].join('\n\n');
    process.stdout.write(`${text}\n`);
    if (write) await writeSection(BENCHMARKS, 'profile', text);
  });
}

async function profileRow(
  { site, runner }: Lab,
  kind: PeerKind,
  inspectorPort: number,
): Promise<Breakdown> {
  const peer = await kind.start(site);
  runner.defer('gateway', peer.stop);
  const { url, authorization, shape } = peer;
  const { signal } = site;
  const load = (seconds: number) =>
    runLoad({ ...shape, url, authorization, connections: CONNECTIONS, seconds, signal });

  await load(WARM_UP_SECONDS);
  const inspector = await connectInspector(inspectorPort, site.signal);
  try {
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_INTERVAL_US });
    await inspector.call('Profiler.start');
    const result = await load(PROFILE_SECONDS);
    const { profile } = profileReply.parse(await inspector.call('Profiler.stop'));
    const failed = result.failed_status + result.failed_socket;
    if (failed > 0) throw new Error(`${failed} requests did not get a 2xx response`);
    return breakDown(profile);
  } finally {
    inspector.close();
  }
}

function table(what: string, shares: readonly Share[]): string {
  const rows = shares.map(({ name, share }) => `| ${(share * 100).toFixed(1)} % | ${name} |`);
  return [`| CPU time | ${what} |`, '| ---: | --- |', ...rows].join('\n');
}
