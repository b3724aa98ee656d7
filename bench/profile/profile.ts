import { freePort } from '@gateway/local-stack/process/free-port';
import { command, text } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { runWrk, runWrkWell } from '../load/wrk.ts';
import { gatewayRows } from '../peers/gateway.ts';
import { named } from '../peers/peer.ts';
import { formatCells } from '../report/table.ts';
import { breakDown, type CpuProfile, type Share } from './cpu-profile.ts';
import { connectInspector } from './inspector.ts';

const WARM_UP_SECONDS = 4;
const PROFILE_SECONDS = 5;
const SAMPLE_INTERVAL_US = 250;
const TOP_FUNCTIONS = 20;
const MIN_SHARE = 0.002;

/** Profiles the data plane under the load of the bench and prints where the CPU time goes. */
export const profile = command({
  name: 'profile',
  summary: 'CPU profile of the data plane under load: time by part and by function',
  options: { row: text('gateway', 'the row of the gateway whose load is profiled') },
  async run(run, { row }) {
    const port = await freePort();
    const rows = gatewayRows({ nodeArgs: [`--inspect=127.0.0.1:${port}`], fromSources: true });
    const lab = await startLab(run);
    for (const kind of named(rows, [row])) {
      const peer = await kind.start(lab);
      await runWrk(peer, { seconds: WARM_UP_SECONDS }, lab.signal);
      const inspect = await connectInspector(port, lab);
      await inspect('Profiler.enable');
      await inspect('Profiler.setSamplingInterval', { interval: SAMPLE_INTERVAL_US });
      await inspect('Profiler.start');
      await runWrkWell(peer, { seconds: PROFILE_SECONDS }, lab.signal);
      const stopped = await inspect<{ profile: CpuProfile }>('Profiler.stop');
      const { parts, functions } = breakDown(stopped.profile);
      const large = parts.filter(({ share }) => share >= MIN_SHARE);
      print('part', large);
      print('function', functions.slice(0, TOP_FUNCTIONS));
    }
  },
});

function print(what: string, shares: readonly Share[]): void {
  const rows = shares.map(({ name, share }) => [name, `${(share * 100).toFixed(1)} %`]);
  process.stdout.write(`${formatCells([`${what}, by self time`, 'CPU time'], rows)}\n\n`);
}
