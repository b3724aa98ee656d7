import { eventually } from '@gateway/shared/test/eventually';
import { burst } from '../../harness/burst.ts';
import { metric } from '../../harness/figures.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Expectations, Scenario } from '../harness/scenario.ts';
import { SKEW_MS, type UpstreamWorld } from '../harness/upstream-world.ts';

const LIMIT = 200;
/** Requests that leases lost at the end of a window, and requests in flight, may cost. */
const MIN_GRANTED = LIMIT * 0.9;
const REPORTED = { deadlineMs: 30_000, intervalMs: 50 };
const MINUTE_MS = 60_000;

/**
 * A window length in seconds such that the two clocks are in different windows: the current window
 * ends after the test, but has already ended on the clock that is ahead.
 */
function windowSeconds(): number {
  const nowSeconds = Date.now() / 1000;
  for (let length = 400; length <= 4000; length += 10) {
    const leftSeconds = length - (nowSeconds % length);
    if (leftSeconds > 90 && leftSeconds < SKEW_MS / 1000 - 60) return length;
  }
  throw new Error('no window length fits');
}

/** Sends as many requests as the limit to each data plane at once. */
async function holdQuota({ world }: UpstreamWorld, expectations: Expectations): Promise<number> {
  const rateLimit = { limit: LIMIT, window_seconds: windowSeconds() };
  const { name } = await world.gateway.route({ rate_limit: rateLimit });
  await world.changeArrives();
  const clients = world.dataPlanes.map(({ baseUrl }) => world.management.at(baseUrl));
  const answers = await Promise.all(clients.map((client) => burst(client, String(name), LIMIT)));
  const granted = answers.flat().filter(({ status }) => status === 200).length;
  expectations.hold(
    granted <= LIMIT && granted >= MIN_GRANTED,
    `${granted} requests were granted under a limit of ${LIMIT}`,
  );
  const resets = answers.flat().map(({ resetSeconds }) => resetSeconds);
  expectations.hold(
    Math.max(...resets) - Math.min(...resets) < 60,
    'the data planes do not agree on the end of the window',
  );
  return granted;
}

/** The data plane with the wrong clock judges the expiry of tokens five minutes early. */
async function holdExpiry({ world }: UpstreamWorld, expectations: Expectations): Promise<void> {
  const status = async (lifetimeMs: number, plane: number) => {
    const expires = new Date(Date.now() + lifetimeMs).toISOString();
    const client = await world.gateway.tokenClient({ expires_at: expires });
    await world.changeArrives();
    const { baseUrl = '' } = world.dataPlanes[plane] ?? {};
    return (await client.at(baseUrl).proxy('load-get', { method: 'GET' })).status;
  };
  const long = await status(SKEW_MS + 5 * MINUTE_MS, 1);
  expectations.hold(long === 200, `a token of ten minutes got ${long} by the clock that is ahead`);
  const short = await status(5 * MINUTE_MS, 0);
  expectations.hold(
    short === 200,
    `a token of five minutes got ${short} by the clock that is right`,
  );
}

export const clockOff: Scenario<UpstreamWorld> = {
  fault: 'the clock of a data plane is 5 minutes ahead',
  async run(upstreams, outageMs) {
    const { world } = upstreams;
    const skewed = world.dataPlanes[1];
    if (skewed === undefined) throw new Error('there is no second data plane');
    const run = await world.begin(this.fault, { targets: [skewed.baseUrl] });
    const granted = await holdQuota(upstreams, run.expectations);
    await holdExpiry(upstreams, run.expectations);
    await run.outage(outageMs);
    await eventually(async () => {
      const offset = await metric(skewed.adminUrl, 'gateway_nats_clock_offset_seconds');
      if (Math.abs(offset + SKEW_MS / 1000) > 5) throw new Error(`the offset is ${offset} s`);
    }, REPORTED);
    run.expectations.hold(
      await hasLogged(skewed, 'clock differs from the clock of the NATS server'),
      'the log does not tell of the clock',
    );
    const ready = await fetch(`${skewed.adminUrl}/readyz`);
    const { reasons } = (await ready.json()) as { reasons: readonly string[] };
    const reasonText = reasons.join();
    run.expectations.hold(
      ready.status === 200 && reasonText.includes("the clock is 300 s ahead of the NATS server's"),
      `/readyz responded ${ready.status} ${reasonText}`,
    );
    return run.finish({}, `${granted} granted under a limit of ${LIMIT}`);
  },
};
