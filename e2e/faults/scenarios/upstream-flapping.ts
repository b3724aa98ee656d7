import { startSwitchedUpstream } from '../../harness/switched-upstream.ts';
import { isFailed } from '../harness/client-load.ts';
import type { Scenario } from '../harness/scenario.ts';
import type { UpstreamWorld } from '../harness/upstream-world.ts';

const PERIOD_MS = 2000;
const LATENCY_MS = 5;
/** An upstream that is up is used again within this time, also on a busy machine. */
const RETURN_MS = 10_000;
const POLL_MS = 100;
const MAX_FAILED_SHARE = 0.001;

export const upstreamFlapping: Scenario<UpstreamWorld> = {
  fault: 'one of two upstreams flaps every 2 s',
  async run({ world }, outageMs) {
    const steady = await startSwitchedUpstream('steady', LATENCY_MS);
    const flapping = await startSwitchedUpstream('flapping', LATENCY_MS);
    try {
      const { id } = await world.gateway.service({
        url: undefined,
        upstreams: [{ url: steady.url }, { url: flapping.url }],
        health_check: { path: '/', interval_ms: 1000 },
      });
      const { name } = await world.gateway.route({ service_id: id });
      await world.changeArrives();
      const run = await world.begin(this.fault, { getRoute: String(name) });
      const before = flapping.served;
      const periods = Math.max(1, Math.round(outageMs / (2 * PERIOD_MS)));
      const flap = async () => {
        for (let period = 0; period < periods; period += 1) {
          await flapping.stop();
          await run.load.goOn(PERIOD_MS);
          await flapping.start();
          await run.load.goOn(PERIOD_MS);
        }
        // It is up now. In the last period there may have been no time for the health checks to succeed.
        for (let waitedMs = 0; flapping.served === before && waitedMs < RETURN_MS;) {
          await run.load.goOn(POLL_MS);
          waitedMs += POLL_MS;
        }
      };
      await Promise.all([flap(), run.outage(periods * 2 * PERIOD_MS)]);
      const gets = run.load.answers.filter(({ kind }) => kind === 'get');
      const failed = gets.filter(isFailed).length;
      run.expectations.hold(
        failed <= gets.length * MAX_FAILED_SHARE,
        `${failed} of ${gets.length} GETs failed`,
      );
      const served = flapping.served - before;
      run.expectations.hold(served > 0, 'the flapping upstream was not used while it was up');
      return await run.finish(
        { failed: Math.floor(gets.length * MAX_FAILED_SHARE) },
        `${gets.length} GETs, ${served} by the flapping one`,
      );
    } finally {
      await steady.stop();
      await flapping.stop();
    }
  },
};
