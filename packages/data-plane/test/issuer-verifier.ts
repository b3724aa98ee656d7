import { systemClock } from '@gateway/shared/clock';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createFetchKeySet } from '../src/access/jwt/fetch-key-set.ts';
import { KeySetVerifier, type JwtVerdict } from '../src/access/jwt/jwt-verifier.ts';
import { KeySets } from '../src/access/jwt/key-sets.ts';
import type { JwtAuth } from '../src/routing-table/compiled-auth.ts';
import { guardedLookup } from '../src/upstream/dns/guarded-lookup.ts';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { AUDIENCE, ISSUER, startTokenIssuer } from '@gateway/shared/test/token-issuer';

/** A verifier for the tokens of a real issuer, and the counts of its metrics. `opened` closes everything. */
export async function startVerifier(opened: ReturnType<typeof closeAfterEach>) {
  const issuer = opened(await startTokenIssuer());
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const registry = new Registry();
  const deny = parseAddressRanges([]);
  const logLines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logLines.push(line) });
  const fetch = createFetchKeySet({ clock: systemClock, deny, lookup: guardedLookup(deny) });
  const keySets = opened(new KeySets({ fetch, clock, random: () => 0, log, registry }));
  const verifier = new KeySetVerifier({ keySets, clock, registry });
  const auth: JwtAuth = {
    type: 'jwt',
    issuer: ISSUER,
    audience: [AUDIENCE],
    jwksUrl: issuer.jwksUrl,
    algorithms: ['ES256'],
    requiredClaims: [],
  };
  return {
    issuer,
    auth,
    keySets,
    logLines,
    /** Advances the clock. */
    advance: (ms: number) => void (aheadMs += ms),
    verify: (token: string, policy = auth, timeoutMs = 5000) =>
      verifier.verify(policy, token, clock.monotonicMs() + timeoutMs, () => true),
    count: async (result: string): Promise<number> => {
      const metric = await registry.getSingleMetric('gateway_jwt_verifications_total')?.get();
      return metric?.values.find((value) => value.labels['result'] === result)?.value ?? 0;
    },
  };
}

/**
 * The caller that the verdict names.
 *
 * @throws if the token was not accepted
 */
export function callerOf(verdict: JwtVerdict) {
  if (verdict.kind !== 'caller') throw new Error(`no caller: ${JSON.stringify(verdict)}`);
  return verdict.caller;
}
