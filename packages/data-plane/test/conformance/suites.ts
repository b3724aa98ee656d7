import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { asHttp1 } from './as-http1.ts';
import { asHttp2 } from './as-http2.ts';
import type { ConformanceCase } from './case.ts';
import type { FieldsCase, Http2Case } from './fields-case.ts';
import { startRig, type ConformanceRig } from './rig.ts';
import { runCase } from './run-case.ts';
import { runOverHttp2 } from './run-over-http2.ts';

/** Cases by subject. Each is written once: as the bytes of HTTP/1.1, or as the fields of HTTP/2. */
export type Suites = Readonly<Record<string, readonly (ConformanceCase | FieldsCase)[]>>;

/** What runs over each protocol. */
export interface Protocols {
  readonly http1: readonly ConformanceCase[];
  readonly http2: readonly Http2Case[];
}

const RULE = /^(?:RFC \d{4} sections? \d|docs\/[a-z/-]+\.md)/;

/** The cases over both protocols: each runs over the one in which it is written, and over the other if that has such a request. */
export function overBoth(cases: Suites[string]): Protocols {
  return {
    http1: cases.flatMap((one) => ('fields' in one ? (asHttp1(one) ?? []) : one)),
    http2: cases.flatMap((one) => ('fields' in one ? one : (asHttp2(one) ?? []))),
  };
}

/**
 * Registers suites of cases. All cases of a suite use one data plane and one upstream, so that bytes left by one case
 * would affect the next.
 */
export function runSuites(
  suites: Suites,
  route: Partial<SnapshotRoute> = {},
  protocol: ConformanceRig['protocol'] = 'http1',
): void {
  describe.each(Object.entries(suites))('%s', (_suite, cases) => {
    const { http1, http2 } = overBoth(cases);
    runOver('HTTP/1.1', http1, () => startRig(route, {}, protocol), runCase);
    const startHttp2 = () => startRig(route, { HTTP2_CLEARTEXT: 'on' }, protocol);
    runOver('HTTP/2', http2, startHttp2, runOverHttp2);
  });
}

function runOver<Case extends Pick<ConformanceCase, 'name' | 'rule'>>(
  protocol: string,
  cases: readonly Case[],
  start: () => Promise<ConformanceRig>,
  run: (rig: ConformanceRig, one: Case) => Promise<void>,
): void {
  if (cases.length === 0) return;
  describe(`over ${protocol}`, () => {
    let rig: ConformanceRig;
    beforeAll(async () => void (rig = await start()));
    afterAll(() => rig.close());

    it.each(cases.map((one) => [one.name, one.rule, one] as const))(
      '%s [%s]',
      async (_name, rule, one) => {
        expect(rule).toMatch(RULE);
        await run(rig, one);
      },
    );
  });
}
