import { withLab, type Lab } from '../lab/lab.ts';
import { startGateway, type Configure, type GatewayStart } from '../peers/gateway.ts';
import type { Peer } from '../peers/peer.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';

const TIMEOUT_MS = 400_000;

/** Prepares a lab for a curve, and gives what `measure` returns. */
export async function inLab(
  measure: (lab: Lab) => Promise<readonly Series[]>,
): Promise<readonly Series[]> {
  let result: readonly Series[] = [];
  await withLab(TIMEOUT_MS, async (lab) => {
    result = await measure(lab);
  });
  return result;
}

/** Starts a gateway that stops with the lab. */
export async function startInLab(
  { runner, site }: Lab,
  name: string,
  configure: Configure,
  options: GatewayStart = {},
): Promise<Peer> {
  log(`starting a gateway with ${name}`);
  const peer = await startGateway(site, { ...options, name, configure });
  runner.defer(name, peer.stop);
  return peer;
}
