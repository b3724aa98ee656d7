import { Agent, type ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startTokenIssuer, type Claims, type TokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';
import { covers } from '@gateway/shared/tokens/scopes';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { http2Call } from '../../test/http2-call.ts';
import {
  authOfEachType,
  ENVIRONMENTS,
  MISSING,
  NOWHERE,
  refusalWorld,
  unusable,
  UNREADABLE,
  type RefusedCaller,
} from '../../test/refusal-world.ts';
import {
  answerTo,
  SHAPES,
  withoutVarying,
  type Fields,
  type Shape,
} from '../../test/refusal-shapes.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();

/** One shape, where the others would say no more. */
const PLAIN = { 'a request': {} };

/** How many an address may make: more than a test. */
const FAILURES = 1_000_000;

async function setUp(options: TestDataPathOptions = {}, answer?: TokenIssuer['answer']) {
  const upstream = opened(await startUpstream());
  const issuer = opened(await startTokenIssuer());
  issuer.answer = answer;
  const world = await refusalWorld(issuer, upstream.url);
  const fixedMs = Date.now();
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [] },
      {
        snapshots: world.snapshots,
        clock: { ...systemClock, nowMs: () => fixedMs },
        environment: { AUTH_FAILURE_LIMIT: String(FAILURES) },
        ...options,
      },
    ),
  );
  const agent = opened(new Agent({ keepAlive: true, maxSockets: 8 }));
  const types = Object.keys(authOfEachType(issuer));
  const call = (environment: string, route: string, shape: Shape, fields: Fields) =>
    answerTo(gateway.port, agent, `/v1/proxy/${route}${shape.subPath ?? ''}`, shape, {
      ...fields,
      'x-gateway-environment': environment,
    });
  const closedTypes = types.filter(isClosed);
  return { ...world, gateway, issuer, upstream, call, closedTypes, closedRoutes: closed(types) };
}

function isClosed(type: string): boolean {
  return type !== 'none';
}

/** The closed routes of each type, usable or not, and one that does not exist. */
function closed(types: readonly string[]): readonly string[] {
  const closedTypes = types.filter(isClosed);
  return [...closedTypes, unusable('token'), unusable('jwt'), UNREADABLE, MISSING];
}

/** Places that the caller must not be able to tell apart: all, but that it may see the bounds of its own token. */
function kindOfPlace({ environments }: RefusedCaller, environment: string): string {
  if (environments === undefined) return 'any';
  return covers(environments, environment) ? 'covered' : 'beyond';
}

async function everyAnswer(
  { call, closedRoutes, callers }: Awaited<ReturnType<typeof setUp>>,
  environments: readonly string[] = [...ENVIRONMENTS, NOWHERE],
  shapes: Readonly<Record<string, Shape>> = SHAPES,
): Promise<Map<string, Map<string, string[]>>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const [who, caller] of Object.entries(callers)) {
    for (const [what, shape] of Object.entries(shapes)) {
      const places = environments.flatMap((environment) =>
        closedRoutes.map((route) => ({ environment, route })),
      );
      const answers = await Promise.all(
        places.map(({ environment, route }) => call(environment, route, shape, caller.fields)),
      );
      for (const [at, { environment, route }] of places.entries()) {
        const key = `${who}: ${what}, ${kindOfPlace(caller, environment)}`;
        const answer = answers[at] ?? '';
        const same = found.get(key) ?? new Map<string, string[]>();
        same.set(answer, [...(same.get(answer) ?? []), `${environment}/${route}`]);
        found.set(key, same);
      }
    }
  }
  return found;
}

/** The callers that can tell places apart, with the answers by which they can. */
function tellingAnswers(found: ReadonlyMap<string, ReadonlyMap<string, string[]>>) {
  return [...found].filter(([, answers]) => answers.size > 1);
}

describe('a caller that has no right to a route gets the same bytes', () => {
  it('whether the route exists, of whatever type, and in whatever environment', async () => {
    const world = await setUp();
    const found = await everyAnswer(world);
    expect(tellingAnswers(found)).toEqual([]);
    const statuses = new Set([...found.values()].flatMap((one) => [...one.keys()].map(statusOf)));
    expect(statuses).toEqual(new Set(['401']));
    expect(world.upstream.seen).toHaveLength(0);
    // Each counts as one failure, so that the counter tells nothing either.
    const places = [...found.values()].flatMap((one) => [...one.values()].flat());
    const next = await fetch(`${world.gateway.url}/v1/proxy/${MISSING}`);
    const remaining = Number(next.headers.get('x-ratelimit-remaining'));
    expect(remaining).toBe(FAILURES - places.length - 1);
  });

  it('past the failure allowance of its address', async () => {
    const world = await setUp({ environment: { AUTH_FAILURE_LIMIT: '1' } });
    await world.call('production', MISSING, {}, {});
    const found = await everyAnswer(world, undefined, PLAIN);
    expect(tellingAnswers(found)).toEqual([]);
    const statuses = new Set([...found.values()].flatMap((one) => [...one.keys()].map(statusOf)));
    expect(statuses).toEqual(new Set(['429']));
  });

  it('over HTTP/2', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    const { snapshots, callers } = await refusalWorld(issuer, upstream.url);
    const environment = { AUTH_FAILURE_LIMIT: String(FAILURES) };
    const fixedMs = Date.now();
    const clock = { ...systemClock, nowMs: () => fixedMs };
    const options = { snapshots, environment, clock };
    const gateway = opened(await startSecureDataPath({ upstreams: [] }, options));
    const session = gateway.connectHttp2();
    opened({ close: () => session.destroy() });
    const routes = closed(Object.keys(authOfEachType(issuer)));
    const telling: unknown[] = [];
    for (const [who, { fields }] of Object.entries(callers)) {
      const answers = await Promise.all(
        routes.map(async (route) => {
          const answer = await http2Call(session, { ':path': `/v1/proxy/${route}`, ...fields });
          const raw = Object.entries(answer.headers).flatMap(([name, value]) => [
            name,
            String(value),
          ]);
          return withoutVarying(answer.status, raw, answer.body);
        }),
      );
      if (new Set(answers).size > 1) telling.push([who, answers]);
    }
    expect(telling).toEqual([]);
  });

  it('while the configuration of an environment is not loaded: it is like one that does not exist', async () => {
    const world = await setUp({ complete: false });
    const found = await everyAnswer(world, ['not-loaded-yet', NOWHERE], PLAIN);
    expect(tellingAnswers(found)).toEqual([]);
    for (const [who, answers] of found) {
      // Only its own token decides about a caller that has a valid one.
      const expected =
        who.endsWith('beyond') ||
        who.startsWith('the token otherScope') ||
        who.startsWith('the token otherRoute')
          ? '401'
          : '503';
      expect({ who, status: [...answers.keys()].map(statusOf) }).toEqual({
        who,
        status: [expected],
      });
    }
  });
});

function statusOf(answer: string): string {
  return answer.split('\n', 1)[0] ?? '';
}

describe('a caller that has a right to a route', () => {
  it('gets it, learns that one is missing, and which method or header it does not accept', async () => {
    const { call, secrets, closedTypes } = await setUp();
    const fields = { authorization: `Bearer ${secrets.everything}` };
    const statuses: Record<string, string> = {};
    for (const route of [...closedTypes, MISSING]) {
      statuses[route] = statusOf(await call('production', route, {}, fields));
    }
    expect(statuses).toEqual({ token: '200', api_key: '401', jwt: '401', [MISSING]: '404' });
    for (const route of [unusable('token'), UNREADABLE]) {
      expect(statusOf(await call('production', route, {}, fields))).toBe('503');
    }
    const basic = Buffer.from(`git:${secrets.everything}`).toString('base64');
    const asPassword = { authorization: `Basic ${basic}` };
    const withPassword = [...closedTypes, MISSING].map((route) =>
      call('production', route, {}, asPassword),
    );
    expect((await Promise.all(withPassword)).map(statusOf)).toEqual(['200', '401', '401', '404']);
    expect(await call('production', 'token', { method: 'DELETE' }, fields)).toMatch(/^405\n/);
    const control = { subPath: '/a%0Ab' };
    expect(await call('production', 'token', control, fields)).toMatch(/^400\n/);
    const key = { 'x-api-key': secrets.everything };
    expect(statusOf(await call('production', 'api_key', {}, key))).toBe('200');
    expect(statusOf(await call('production', 'token', {}, key))).toBe('401');
  });

  it('gets 503, not 404, while the configuration of its environment may not be loaded', async () => {
    const statusWith = async (complete: boolean) => {
      const { call, secrets } = await setUp({ complete });
      return statusOf(await call(NOWHERE, 'token', {}, { 'x-api-key': secrets.everything }));
    };
    expect([await statusWith(false), await statusWith(true)]).toEqual(['503', '404']);
  });

  it('learns why its JWT is refused if the issuer signed it', async () => {
    const { call, issuer } = await setUp();
    const fields = { authorization: `Bearer ${await issuer.token({ exp: 1 })}` };
    expect(await call('production', 'jwt', {}, fields)).toContain('The token has expired.');
    expect(await call('production', 'token', {}, fields)).not.toContain('expired');
    const valid = { authorization: `Bearer ${await issuer.token()}` };
    expect(statusOf(await call('production', 'jwt', {}, valid))).toBe('200');
  });

  it('may present a valid JWT beside a gateway token that does not cover the route', async () => {
    const { call, issuer, secrets } = await setUp();
    const authorization = `Bearer ${await issuer.token()}`;
    const fields = { authorization, 'x-api-key': secrets.otherRoute };
    expect(statusOf(await call('production', 'jwt', {}, fields))).toBe('200');
  });
});

describe('while the keys of the issuer are not available', () => {
  it('only a JWT that names the issuer of the route gets 503', async () => {
    const answer = (response: ServerResponse) => void response.writeHead(500).end();
    const { call, issuer, closedTypes } = await setUp({}, answer);
    const answers = async (claims: Claims) => {
      const fields = { authorization: `Bearer ${await issuer.token(claims)}` };
      const routes = [...closedTypes, MISSING];
      return Promise.all(routes.map((route) => call('production', route, {}, fields)));
    };
    const ofOther = await answers({ iss: 'https://other.test/' });
    expect(new Set(ofOther).size).toBe(1);
    expect(ofOther.map(statusOf)).toEqual(['401', '401', '401', '401']);
    expect((await answers({})).map(statusOf)).toEqual(['401', '401', '503', '401']);
  });

  it('a JWT of another issuer does not wait for them', async () => {
    const { call, issuer } = await setUp({}, () => undefined);
    const fields = {
      authorization: `Bearer ${await issuer.token({ iss: 'https://other.test/' })}`,
    };
    // The issuer never answers. A wait would last as long as the timeout of the route, longer than this test may take.
    expect(statusOf(await call('production', 'jwt', {}, fields))).toBe('401');
  });
});
