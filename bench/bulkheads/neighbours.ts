import type { CrowdOptions } from '@gateway/testing/crowd';

/** Callers whose port is not known yet. */
export type Crowds = readonly Omit<CrowdOptions, 'port'>[];

export interface NeighbourOptions {
  /** Callers of the bad routes, together. */
  readonly callers: number;
  /** Callers with slow bodies. */
  readonly bodies: number;
  /** May call every route. */
  readonly token: string;
  /** Has no scope of the management API. */
  readonly bareToken: string;
}

/** About what `Retry-After: 1` asks for. */
const AGAIN_MS = 1000;

/** The time after which a hung route times out: callers that start together would come again together. */
const ARRIVAL_MS = 10_000;

/** The bad neighbours of the sound route, by name. */
export function neighboursOf(options: NeighbourOptions): Readonly<Record<string, Crowds>> {
  const { callers, bodies, token, bareToken } = options;
  const half = Math.ceil(callers / 2);
  const calls = { kind: 'calls', againMs: AGAIN_MS, arrivalMs: ARRIVAL_MS, token } as const;
  const slow = { kind: 'slow-bodies', againMs: AGAIN_MS, path: '/v1/x', callers: bodies } as const;
  return {
    [`${half} callers of a hung route, ${half} of a slow one`]: [
      { ...calls, path: '/v1/proxy/hung', callers: half },
      { ...calls, path: '/v1/proxy/slow', callers: half },
    ],
    [`${bodies} slow bodies without a token to /v1/x`]: [slow],
    [`${bodies} slow bodies with a token without a management scope`]: [
      { ...slow, token: bareToken },
    ],
    [`${callers} calls to a control plane that hangs`]: [{ ...calls, path: '/v1/x', callers }],
  };
}
