import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { requestRecord } from '@gateway/shared/test/request-record';
import { storableRecord } from '../src/ingest/storable-record.ts';
import { insertRecords } from '../src/store/records/records.ts';
import type { Answer, TestApi } from './api.ts';

/** What a call names: something beyond the reach of its token, and the same kind of thing that does not exist. */
export interface Named {
  readonly existing: unknown;
  readonly missing: unknown;
  /** A name can be guessed, an id cannot: only for an id the answers may tell that it exists. */
  readonly by: 'name' | 'id';
}

export interface BaseCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface BeyondReachWorld {
  /** The id of the route of production that a data plane would explain. */
  readonly foreignRouteId: string;
  /** The secret of a token of one route in development, with all scopes. */
  readonly secret: string;
  /** What stands in resources beyond its reach, and in no answer to it. */
  readonly markers: readonly string[];
  /** A call of each operation about what the token covers, by `operationId`. */
  readonly calls: Readonly<Record<string, BaseCall>>;
  /** What can name something, by `in:name`, or by `operationId in:name` if the operation reads it in another way. */
  readonly names: Readonly<Record<string, Named>>;
}

const ROUTES = ['mine', 'new'];
const missingId = (prefix: string) => `${prefix}_01kb5zv4x8n3m6q9r2t7w0y1z4`;

function idOf({ json, text }: Answer): string {
  if (json.data === undefined) throw new Error(text);
  return json.data.id;
}

/** An id at the same place of every list. */
const beside = (id: string) => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');

function cursorOf(list: string, after: unknown): string {
  return Buffer.from(JSON.stringify([list, after])).toString('base64url');
}

/** Resources within and beyond the reach of a token: in another environment, and on another route of its own. */
export async function beyondReachWorld(api: TestApi): Promise<BeyondReachWorld> {
  const make = async (path: string, body: object, key?: string) =>
    idOf(
      await api.call('POST', path, {
        body,
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      }),
    );
  await make('/v1/environments', { name: 'hidden-environment' });
  const service = (name: string, environment: string) =>
    make('/v1/services', { name, environment, url: `https://${name}.test` });
  const own = await service('own', 'development');
  const hidden = await service('hidden-service', 'production');
  const mine = await make('/v1/routes', { name: 'mine', service_id: own });
  const besideMine = await make('/v1/routes', { name: 'hidden-beside', service_id: own });
  const there = await make('/v1/routes', { name: 'hidden-there', service_id: hidden });
  const inDevelopment = { environments: ['development'], routes: ROUTES };
  const secret = await api.makeToken({ ...inDevelopment, name: 'operator', scopes: ['*'] });
  const caller = await make('/v1/tokens', { ...inDevelopment, name: 'caller', scopes: ['proxy'] });
  const production = { name: 'hidden-token', environments: ['production'], scopes: ['proxy'] };
  const foreign = await make('/v1/tokens', production, 'hidden-key');
  for (const environment of ['production', 'development']) await api.publish(environment);
  const events = await api.call('GET', '/v1/audit-events?environment=production&limit=1');
  const hiddenEvent = events.json.data?.[0]?.id ?? '';
  const nowMs = api.clock.nowMs();
  const record = (environment: string, route: string, token_id: string, url: string) => {
    const upstream = { id: 'ups_1', url, region: null };
    return requestRecord(nowMs, { environment, route, token_id, upstream, status: 200 });
  };
  const records = [
    record('development', 'mine', caller, 'https://own.test'),
    record('development', 'hidden-beside', foreign, 'https://hidden-service.test'),
    record('production', 'hidden-there', foreign, 'https://hidden-service.test'),
  ];
  await insertRecords(api.db, records.map(storableRecord));
  const [ownRecord, besideRecord, foreignRecord] = records.map(({ id }) => id);
  if (!ownRecord || !besideRecord || !foreignRecord) throw new Error('no record');
  const config_versions = { production: 1, development: 1, 'hidden-environment': 1 };
  const config_errors = { production: 'hidden-error' };
  api.dataPlanes.take(
    heartbeatOf('dp-1', { config_versions, config_errors, last_error: 'hidden-error' }),
    api.clock.monotonicMs(),
  );
  const environment: Named = { existing: 'production', missing: 'nowhere', by: 'name' };
  const route: Named = { existing: 'hidden-beside', missing: 'no-such-route', by: 'name' };
  const routeOfId: Named = { existing: there, missing: missingId('rte'), by: 'id' };
  const serviceOfId: Named = { existing: hidden, missing: missingId('svc'), by: 'id' };
  const tokenOfId: Named = { existing: foreign, missing: missingId('tok'), by: 'id' };
  const recordOfId: Named = { existing: foreignRecord, missing: missingId('req'), by: 'id' };
  const cursor = (list: string, existing: string, missing = beside(existing)): Named => {
    return { existing: cursorOf(list, existing), missing: cursorOf(list, missing), by: 'name' };
  };
  const path = { name: 'development' };
  const versions = { path: { ...path, version: '1' }, query: { environment: 'development' } };
  const compared = { from: '1', to: '1' };
  return {
    foreignRouteId: there,
    secret,
    markers: [
      'hidden-',
      'production',
      ...[hidden, there, besideMine, foreign, foreignRecord, besideRecord],
    ],
    calls: {
      createService: { body: { name: 'new', url: 'https://new.test' } },
      getService: { path: { id: own } },
      updateService: { path: { id: own }, body: { name: 'own' } },
      deleteService: { path: { id: own } },
      putService: { path: { id: 'own' }, body: { url: 'https://own.test' } },
      getServiceHealth: { path: { id: own } },
      createRoute: { body: { name: 'new', service_id: own } },
      getRoute: { path: { id: mine } },
      updateRoute: { path: { id: mine }, body: { timeout_ms: 5000 } },
      deleteRoute: { path: { id: mine } },
      putRoute: { path: { id: 'mine' }, body: { service_id: own } },
      explainRequest: { path: { id: mine }, body: { anonymous: false } },
      getRequest: { path: { id: ownRecord } },
      createEnvironment: { body: { name: 'new' } },
      getEnvironment: { path },
      deleteEnvironment: { path },
      applyEnvironment: { path, body: { dry_run: true, services: [], prune: true } },
      exportEnvironment: { path },
      listEnvironmentVersions: { path },
      getEnvironmentVersion: { path: versions.path },
      diffEnvironmentVersions: { path, query: compared },
      rollBackEnvironment: { path, body: { version: 1 } },
      listConfigVersions: { query: versions.query },
      getConfigVersion: versions,
      diffConfigVersions: { query: { ...versions.query, ...compared } },
      rollBackConfig: { body: { environment: 'development', version: 1 } },
      createToken: { body: { ...inDevelopment, name: 'made', scopes: ['proxy'] } },
      getToken: { path: { id: caller } },
      updateToken: { path: { id: caller }, body: { name: 'caller' } },
      revokeToken: { path: { id: caller } },
      rotateToken: { path: { id: caller }, body: { grace_seconds: 60 } },
    },
    names: {
      'query:environment': environment,
      'body:environment': environment,
      'path:name': environment,
      'createEnvironment body:name': environment,
      'query:service_id': serviceOfId,
      'body:service_id': serviceOfId,
      'body:versions': {
        existing: [{ name: 'v1', service_id: hidden, weight: 1 }],
        missing: [{ name: 'v1', service_id: missingId('svc'), weight: 1 }],
        by: 'id',
      },
      'query:route': route,
      'listRoutes query:name': route,
      'query:search': { existing: 'hidden', missing: 'no-such', by: 'name' },
      'createRoute body:name': route,
      'updateRoute body:name': route,
      'putRoute body:name': route,
      'putRoute path:id': route,
      'query:upstream': {
        existing: 'https://hidden-service.test',
        missing: 'https://no-such.test',
        by: 'name',
      },
      'query:token_id': tokenOfId,
      'body:token_id': tokenOfId,
      'body:created_by': tokenOfId,
      'query:request_id': recordOfId,
      'query:resource_id': routeOfId,
      'getService path:id': serviceOfId,
      'updateService path:id': serviceOfId,
      'updateService body:id': serviceOfId,
      'putService body:id': serviceOfId,
      'deleteService path:id': serviceOfId,
      'getServiceHealth path:id': serviceOfId,
      'getRoute path:id': routeOfId,
      'updateRoute path:id': { ...routeOfId, existing: besideMine },
      'updateRoute body:id': routeOfId,
      'putRoute body:id': routeOfId,
      'deleteRoute path:id': { ...routeOfId, existing: besideMine },
      'explainRequest path:id': { ...routeOfId, existing: besideMine },
      'getRequest path:id': { ...recordOfId, existing: besideRecord },
      'getToken path:id': tokenOfId,
      'updateToken path:id': tokenOfId,
      'updateToken body:id': tokenOfId,
      'revokeToken path:id': tokenOfId,
      'rotateToken path:id': tokenOfId,
      'body:environments': { existing: ['production'], missing: ['nowhere'], by: 'name' },
      'createToken body:routes': {
        existing: ['hidden-beside'],
        missing: ['no-such-route'],
        by: 'name',
      },
      'updateToken body:routes': {
        existing: ['hidden-beside'],
        missing: ['no-such-route'],
        by: 'name',
      },
      'applyEnvironment body:routes': {
        existing: [{ name: 'hidden-beside', service: 'own' }],
        missing: [{ name: 'no-such-route', service: 'own' }],
        by: 'name',
      },
      'applyEnvironment body:services': {
        existing: [{ name: 'hidden-service', url: 'https://other.test' }],
        missing: [{ name: 'no-such-service', url: 'https://other.test' }],
        by: 'name',
      },
      'body:headers': {
        existing: { 'X-Gateway-Environment': 'production' },
        missing: { 'X-Gateway-Environment': 'nowhere' },
        by: 'name',
      },
      'body:path': { existing: '/../hidden-beside', missing: '/../no-such-route', by: 'name' },
      'rotateToken header:Idempotency-Key': {
        existing: 'hidden-key',
        missing: 'no-such-key',
        by: 'name',
      },
      'listServices query:cursor': cursor('services', hidden),
      'listRoutes query:cursor': cursor('routes', there),
      'listRequests query:cursor': cursor('requests', foreignRecord),
      'listEnvironments query:cursor': cursor('environments', 'hidden-environment'),
      'listTokens query:cursor': cursor('tokens', foreign),
      'listAuditEvents query:cursor': cursor('audit-events', hiddenEvent),
      'listDataPlanes query:cursor': cursor('data-planes', 'dp-0', 'dp-00'),
      'query:cursor': cursor('routes', there),
    },
  };
}
