import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientHttp2Session } from 'node:http2';
import { startTestDataPath } from '../../test/data-path.ts';
import { documentedPaths } from '../../test/documented-paths.ts';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';
import { rawCall } from '@gateway/shared/test/raw-client';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { SUB_PATH_REFUSALS } from '@gateway/shared/http/sub-path/refuse-sub-path';
import { refuseSubPath } from './proxy-path.ts';

const PATHS = documentedPaths();

let upstream: TestUpstream;
let gateway: Awaited<ReturnType<typeof startTestDataPath>>;
let secure: SecureDataPath;
let session: ClientHttp2Session;

beforeAll(async () => {
  upstream = await startUpstream();
  const route = { upstreams: [`${upstream.url}/base`] };
  gateway = await startTestDataPath(route);
  secure = await startSecureDataPath(route);
  session = secure.connectHttp2();
});

afterAll(async () => {
  session.destroy();
  await secure.stop();
  await gateway.stop();
  await upstream.close();
});

/** The status, and what the upstream got. */
async function overHttp1(target: string): Promise<Answer> {
  const seen = upstream.seen.length;
  const response = await rawCall(gateway.port, { target }, gateway.token);
  const text = await response.text();
  const urls = upstream.seen.slice(seen).map(({ url }) => url);
  return { status: response.status, text, seen: urls };
}

async function overHttp2(target: string): Promise<Answer> {
  const seen = upstream.seen.length;
  const fields = { ':path': target, authorization: `Bearer ${secure.token}` };
  const { status, body } = await http2Call(session, fields);
  return { status, text: body, seen: upstream.seen.slice(seen).map(({ url }) => url) };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly seen: readonly string[];
}

describe('the table of paths in docs/use/policies/paths-and-methods.md', () => {
  it('has every reason', () => {
    const reasons = new Set(PATHS.map(({ result }) => result));
    expect(reasons).toEqual(new Set(['forwarded', ...Object.values(SUB_PATH_REFUSALS)]));
  });

  it.each(PATHS)('says what happens to $form: $example', async ({ example, result }) => {
    const reason = refuseSubPath(example);
    expect(reason === undefined ? 'forwarded' : SUB_PATH_REFUSALS[reason]).toBe(result);
    const answers = [await overHttp1(`/v1/proxy/test${example}`)];
    answers.push(await overHttp2(`/v1/proxy/test${example}`));
    for (const answer of answers) {
      if (result === 'forwarded') {
        expect(answer).toMatchObject({ status: 200, seen: [`/base${example}`] });
      } else {
        expect(answer).toMatchObject({ status: 400, seen: [] });
        expect(answer.text).toContain(`path ${result}`);
      }
    }
  });
});
