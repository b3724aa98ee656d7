import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import fc from 'fast-check';
import { openFuzz } from '@gateway/shared/test/fuzz';
import { rawConnection } from '@gateway/shared/test/raw-client';
import { readResponse, type RawResponse } from '@gateway/shared/test/raw-response';
import { AUTHORIZED, HOST, text } from './case.ts';
import { MUTATED, mutatedText, type Mutated } from './mutations.ts';
import { parseRequests, type ParsedRequest } from './parse-requests.ts';
import type { RecordedRequest } from './recording-upstream.ts';
import { startRig, type ConformanceRig } from './rig.ts';

const fuzz = openFuzz<Mutated>(new URL('fuzz.kept.json', import.meta.url), 2000);
const RUNS = fuzz.kept.length + fuzz.runs;
const AT_ONCE = 8;
/** How long to wait for a response that never arrives, because the bytes are only the start of a request. */
const QUIET_MS = 100;

let rig: ConformanceRig;
beforeAll(async () => void (rig = await startRig({}, { MAX_UPSTREAM_CONNECTIONS: '32' })));
afterAll(() => rig.close());

/** A name for each run. No mutation can turn one into another. */
const MARKS = Array.from({ length: RUNS + 1 }, (_none, run) => {
  const digits = createHash('sha256').update(`run ${run}`).digest('hex').slice(0, 12);
  return `m${digits}m`;
});
const KNOWN = new Set(MARKS);

interface Run {
  readonly mark: string;
  readonly mutated: Mutated | undefined;
  readonly sent: string;
  readonly responses: readonly RawResponse[];
}

/** Sends mutated bytes followed by a canary, and reads until no more responses can arrive. */
async function send(mark: string, mutated?: Mutated): Promise<Run> {
  const lines = [HOST, AUTHORIZED.replace('{token}', rig.token)];
  const start = mutated === undefined ? '' : mutatedText(mutated, mark, rig.token);
  const sent = start + text(`GET /v1/proxy/test/${mark}-canary HTTP/1.1`, lines);
  const { requests, rest } = parseRequests(sent, 'caller');
  const connection = await rawConnection(rig.port);
  connection.send(sent);
  const responses = () => responsesOf(connection.receivedText, requests, connection.ended);
  const settled = () => {
    if (!connection.ended && (rest !== 'nothing' || responses().length < requests.length)) {
      throw new Error('more may come');
    }
  };
  await eventually(settled, { intervalMs: 1, deadlineMs: QUIET_MS }).catch(() => undefined);
  const run = { mark, mutated, sent, responses: responses() };
  connection.destroy();
  return run;
}

/** All final responses in the text. */
function responsesOf(received: string, requests: readonly ParsedRequest[], ended: boolean) {
  const responses: RawResponse[] = [];
  let rest = Buffer.from(received, 'latin1');
  for (;;) {
    const method = requests[responses.length]?.method ?? 'GET';
    const found = readResponse(rest, method, ended);
    if (found === undefined) return responses;
    expect(found.response.status).toBeGreaterThanOrEqual(100);
    if (found.response.status >= 200) responses.push(found.response);
    rest = rest.subarray(found.used);
  }
}

/** A request that the caller sent, in the form in which it must reach the upstream. */
function forwarded({ method, target, body }: ParsedRequest) {
  const path = target.replace(/^https?:\/\/[^/]*/i, '');
  return { method, target: path.replace(/^\/v1\/proxy\/test/, '/base'), body };
}

/** The requests of a run that may be forwarded. */
function forwardable({ sent }: Run) {
  const { requests } = parseRequests(sent, 'caller');
  return requests.filter(({ named }) => named).map(forwarded);
}

/** Each request that arrived must have been sent, and arrive once. Safe requests may overtake each other. */
function checkUpstream(run: Run, seen: readonly RecordedRequest[]): void {
  const allowed = forwardable(run);
  for (const one of seen) {
    const found = allowed.findIndex((other) => isSame(other, one));
    if (found === -1) {
      throw new Error(`${one.method} ${one.target} came of ${JSON.stringify(run.mutated)}`);
    }
    allowed.splice(found, 1);
  }
}

type Forwarded = ReturnType<typeof forwarded>;

function isSame(one: Forwarded, other: Forwarded): boolean {
  return one.method === other.method && one.target === other.target && one.body === other.body;
}

describe('mutated requests', () => {
  it(`${RUNS} of them are never forwarded as another request, and get only their own responses`, async () => {
    const random = fc.sample(MUTATED, { numRuns: fuzz.runs, seed: fuzz.seed });
    const cases = [...fuzz.kept, ...random];
    const runs: Run[] = [];
    for (let first = 0; first < cases.length; first += AT_ONCE) {
      const batch = cases
        .slice(first, first + AT_ONCE)
        .map((one, index) => send(MARKS[first + index] ?? '', one));
      runs.push(...(await Promise.all(batch)));
    }
    const { requests, malformed } = rig.upstream;
    expect(malformed).toEqual([]);
    const ofMark = Map.groupBy(requests, (request) => onlyMark(JSON.stringify(request)));
    for (const run of runs) {
      checkUpstream(run, ofMark.get(run.mark) ?? []);
      const answered = run.responses.map((response) => response.body.toString('latin1'));
      const marks = answered.map(onlyMark).filter((mark) => mark !== undefined);
      const statuses = run.responses.map(({ status }) => status);
      const isRight = marks.every((mark) => mark === run.mark) && !statuses.includes(500);
      if (!isRight) throw new Error(`${statuses.join()} came of ${JSON.stringify(run.mutated)}`);
    }
    // A request whose mark was destroyed by a mutation must still belong to one of the runs.
    for (const one of ofMark.get(undefined) ?? []) {
      expect(runs.some((run) => forwardable(run).some((other) => isSame(other, one)))).toBe(true);
    }
    // Some mutations must be accepted and some refused.
    const statuses = new Set(
      runs.flatMap(({ responses }) => responses.map(({ status }) => status)),
    );
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 404]));
    await eventually(async () => expect(await rig.gateway.inFlight()).toBe(0));
    const unexpected = rig.gateway.logLines.filter((line) => line.includes('failed unexpectedly'));
    expect(unexpected).toEqual([]);
    const canary = await send(MARKS[RUNS] ?? '');
    expect(canary.responses.map(({ status }) => status)).toEqual([200]);
  }, 60_000);
});

/** The run that a text belongs to. A text must never belong to two. */
function onlyMark(content: string): string | undefined {
  const marks = new Set(content.match(/m[0-9a-f]{12}m/g)?.filter((mark) => KNOWN.has(mark)));
  if (marks.size > 1) throw new Error(`bytes of two callers: ${content}`);
  return marks.values().next().value;
}
