import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';
import { expect, it } from '@jest/globals';
import { startTestDataPath } from '../test/data-path.ts';

const opened = closeAfterEach();

/** Lower it when the way gets shorter. */
const MAX_FILES = 65;
const MAX_LINES = 300;
/** Before that, code runs that fills caches and opens connections. */
const WARM_UP_REQUESTS = 5;
const COUNTED_REQUESTS = 3;
const PACKAGES = path.resolve(import.meta.dirname, '../..');
const COUNTED = /\/(?:data-plane|http|shared)\/src\/(?!.*\.test\.ts$)/;
/** Stages of policies that a plain route does not use, and what the store of quotas of this test counts with. */
const NOT_COUNTED = [
  'data-plane/src/versions/pick-version-stage.ts',
  'data-plane/src/upstream/require-credential-stage.ts',
  'data-plane/src/request/max-forwards-stage.ts',
  'data-plane/src/idempotency/idempotency-stage.ts',
  'shared/src/fixed-window.ts',
];

/** Starts to count the calls of functions. Returns a function that names the files with calls since it was called last. */
async function startCounting(): Promise<() => Promise<string[]>> {
  const session = new Session();
  session.connect();
  opened({ close: () => session.disconnect() });
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.filter(({ url, functions }) => {
      return COUNTED.test(url) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    });
    return called.map(({ url }) => path.relative(PACKAGES, fileURLToPath(url))).toSorted();
  };
}

it('a plain request runs code of few files, none of which is long', async () => {
  // With the date of each response its header block would differ from time to time.
  const upstream = opened(
    await startUpstream((_seen, response) => {
      response.setHeader('Date', 'Thu, 26 Nov 2026 08:00:00 GMT');
      response.end('ok');
    }),
  );
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
  const connection = opened(await rawConnection(gateway.port));
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  const request = requestText({ method: 'GET', target: '/v1/proxy/test', lines });
  const calledFiles = await startCounting();
  const calledBy: string[][] = [];
  for (let count = 1; count <= WARM_UP_REQUESTS + COUNTED_REQUESTS; count += 1) {
    connection.send(request);
    await eventually(() => expect(gateway.records).toHaveLength(count));
    calledBy.push(await calledFiles());
  }
  const [first = [], ...others] = calledBy.slice(WARM_UP_REQUESTS);
  // What runs only sometimes is a timer.
  const always = first.filter((file) => others.every((called) => called.includes(file)));
  const files = always.filter((file) => !NOT_COUNTED.includes(file));
  expect(gateway.records.at(-1)?.outcome).toBe('success');
  const long = files.filter((file) => {
    return readFileSync(path.join(PACKAGES, file), 'utf8').split('\n').length > MAX_LINES + 1;
  });
  expect(long).toEqual([]);
  // Fails with the list.
  expect(files.length > MAX_FILES ? files : []).toEqual([]);
});
