import { parseArgs } from 'node:util';
import { freePort } from '@gateway/local-stack/process/free-port';
import { z } from 'zod';
import { withLab, type Lab } from './lab.ts';
import { runLoad } from './load/wrk.ts';
import { startGateway } from './peers/gateway.ts';
import { breakDown, cpuProfileSchema, type Breakdown, type Share } from './profile/cpu-profile.ts';
import { connectInspector } from './profile/inspector.ts';
import { writeSection } from './report/document.ts';

const DOCUMENT = new URL('../docs/understand/benchmarks.md', import.meta.url);
const TIMEOUT_MS = 90_000;
const WARM_UP_SECONDS = 4;
const PROFILE_SECONDS = 5;
const SAMPLE_INTERVAL_US = 250;
const TOP_FUNCTIONS = 20;

const profileReply = z.object({ profile: cpuProfileSchema });

/** Profiles the data plane under the load of the bench, once it is warm. */
async function profileGateway({ site, runner }: Lab): Promise<Breakdown> {
  const port = await freePort();
  const peer = await startGateway(site, [`--inspect=127.0.0.1:${port}`]);
  runner.defer('gateway', peer.stop);
  const { url, authorization } = peer;
  const load = (seconds: number) =>
    runLoad({ url, authorization, connections: 32, seconds, signal: site.signal });

  await load(WARM_UP_SECONDS);
  const inspector = await connectInspector(port, site.signal);
  try {
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_INTERVAL_US });
    await inspector.call('Profiler.start');
    const result = await load(PROFILE_SECONDS);
    const { profile } = profileReply.parse(await inspector.call('Profiler.stop'));
    const failed = result.failed_status + result.failed_socket;
    if (failed > 0) throw new Error(`${failed} requests got no 2xx`);
    return breakDown(profile);
  } finally {
    inspector.close();
  }
}

function table(what: string, shares: readonly Share[]): string {
  const rows = shares.map(({ name, share }) => `| ${(share * 100).toFixed(1)} % | ${name} |`);
  return [`| CPU time | ${what} |`, '| ---: | --- |', ...rows].join('\n');
}

try {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  await withLab(TIMEOUT_MS, async (lab) => {
    const { parts, functions } = await profileGateway(lab);
    const text = [
      table(
        'part, by self time',
        parts.filter(({ share }) => share >= 0.002),
      ),
      '',
      table('function, by self time', functions.slice(0, TOP_FUNCTIONS)),
    ].join('\n');
    process.stdout.write(`${text}\n`);
    if (values.write) await writeSection(DOCUMENT, 'profile', text);
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
