import { HEADER } from '@gateway/shared/http/headers';
import { MAX_WAIT_SECONDS, preferredWait } from '../fleet/prefer-wait.ts';
import type { RolloutWaits } from '../fleet/rollout-waits.ts';
import type { Reply } from './reply.ts';

/**
 * Holds the answer of a write back as `Prefer: wait=N` asks for, until every live data plane serves what
 * it concerns, and gives the header fields that say what came of it: `Preference-Applied` (RFC 7240
 * section 3) only where that was seen in time, else `X-Gateway-Wait` with the reason. The write itself is
 * done before, and stays done.
 */
export async function awaitRollout(
  reply: Reply,
  prefer: string | undefined,
  signal: AbortSignal,
  waits: RolloutWaits,
): Promise<Record<string, string>> {
  const seconds = reply.concerns === undefined ? undefined : preferredWait(prefer);
  if (seconds === undefined || reply.concerns === undefined) return {};
  const timeoutMs = Math.min(seconds, MAX_WAIT_SECONDS) * 1000;
  const result = await waits.wait(reply.concerns, timeoutMs, signal);
  return result === 'applied'
    ? { 'preference-applied': `wait=${seconds}` }
    : { [HEADER.gatewayWait]: result };
}
