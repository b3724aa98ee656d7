import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';
import { asHttp1 } from './downgrades/as-http1.ts';
import { FORWARDED_FIELDS } from './downgrades/cases/forwarded-fields.ts';
import { FRAMING } from './downgrades/cases/framing.ts';
import { INVALID_FIELDS } from './downgrades/cases/invalid-fields.ts';
import { PSEUDO_HEADERS } from './downgrades/cases/pseudo-headers.ts';
import { REPEATED_FIELDS } from './downgrades/cases/repeated-fields.ts';
import { runOverHttp2 } from './downgrades/run-over-http2.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import { RIG_ENVIRONMENT, RIG_ROUTE } from './rig.ts';
import { runSuites } from './suites.ts';

/** RFC 9113 section 10.3: fields and frames that another version of HTTP reads in another way. */
const SUITES = {
  'invalid fields': INVALID_FIELDS,
  'pseudo-header fields': PSEUDO_HEADERS,
  'the end of a body': FRAMING,
  'fields and paths': FORWARDED_FIELDS,
  'repeated fields': REPEATED_FIELDS,
};

const RULE = /^(?:RFC \d{4} sections? \d|docs\/[a-z/-]+\.md)/;

let upstream: RecordingUpstream;
let gateway: SecureDataPath;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gateway = await startSecureDataPath(
    { upstreams: [upstream.url], ...RIG_ROUTE },
    { environment: RIG_ENVIRONMENT },
  );
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

describe.each(Object.entries(SUITES))('over HTTP/2: %s', (_suite, cases) => {
  it.each(cases.map((one) => [one.name, one.rule, one] as const))(
    '%s [%s]',
    async (_name, rule, one) => {
      expect(rule).toMatch(RULE);
      await runOverHttp2({ gateway, upstream }, one);
    },
  );
});

describe('the list of downgrades', () => {
  it('has at least 160 cases, and a reason for each that HTTP/1.1 cannot express', () => {
    const cases = Object.values(SUITES).flat();
    expect(cases.length).toBeGreaterThanOrEqual(160);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    const inexpressible = cases.filter((one) => asHttp1(one) === undefined);
    for (const { http1 } of inexpressible)
      expect(http1).toMatchObject({ why: expect.stringMatching(/./) });
    process.stdout.write(
      `downgrades: ${cases.length}, ${cases.length - inexpressible.length} over HTTP/1.1 too\n`,
    );
  });
});

runSuites(
  Object.fromEntries(
    Object.entries(SUITES).map(([suite, cases]) => [
      `the same requests over HTTP/1.1: ${suite}`,
      cases.flatMap((one) => asHttp1(one) ?? []),
    ]),
  ),
);
