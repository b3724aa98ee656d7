import { eventually } from '@gateway/shared/test/eventually';
import type { Gateway } from '../../../harness/gateway.ts';

/** The words in all names, URLs and header names of what is out of reach. They have one length, as has `nonexists`. */
export const WORDS = {
  env: 'envcanary',
  tok: 'tokcanary',
  del: 'delcanary',
  rte: 'rtecanary',
  again: 'oldcanary',
} as const;
/** The environment that is deleted and made again. */
export const MADE_AGAIN = 'madeagain';

/** What is in an environment, or belongs to one route, and is out of reach of a caller. */
export interface Hidden {
  readonly word: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly routeId: string;
  readonly tokenId: string;
  /** A request through the route. */
  readonly requestId: string;
  /** The call that created the route. */
  readonly callId: string;
  /** The newest version of the environment that contains these. */
  readonly version: number;
}

/** Creates a service, a route with a version and a token in an environment, and sends a request through the route. */
export async function hide(gateway: Gateway, word: string, environment: string): Promise<Hidden> {
  const { admin, upstream, dataPlanes } = gateway;
  const dataPlane = admin.at(dataPlanes[0]?.baseUrl ?? '');
  const header = { type: 'header', name: `X-${word}-Key`, value: `${word}-value` };
  // A caller of another route of the environment sees its services.
  const isSeen = environment === 'production';
  const service = await gateway.service({
    environment,
    name: isSeen ? 'shared' : `${word}-service`,
    url: `${upstream.url}/${isSeen ? 'shared' : `${word}-url`}`,
    health_path: isSeen ? '/healthz' : `/${word}-health`,
    credential: isSeen ? null : header,
  });
  const version = { name: `${word}-version`, service_id: service.id, weight: 100 };
  const created = await admin.post('/v1/routes', {
    name: `${word}-route`,
    versions: [version],
    match: [{ hosts: [hostOf(word)] }],
  });
  const token = await admin.create('/v1/tokens', {
    name: `${word}-token`,
    environments: [environment],
    routes: [`${word}-route`],
    scopes: ['proxy'],
  });
  const request = await eventually(async () => {
    const headers = { 'x-gateway-environment': environment };
    const answer = await dataPlane.proxy(`${word}-route/${word}-path`, { headers });
    if (answer.status !== 200) throw new Error(`not served yet: ${answer.status}`);
    return answer;
  });
  const requestId = idOf(request.headers);
  const newest = await eventually(async () => {
    const record = await admin.get(`/v1/requests/${requestId}`);
    const path = `/v1/config/versions?environment=${environment}&limit=1`;
    const number = Number((await admin.get(path)).page().data[0]?.['version']);
    if (record.status !== 200 || !(number > 0)) throw new Error('no record or version yet');
    return number;
  });
  return {
    word,
    environment,
    serviceId: service.id,
    routeId: created.resource().id,
    tokenId: token.id,
    requestId,
    callId: idOf(created.headers),
    version: newest,
  };
}

/** The host of the route. */
export const hostOf = (word: string): string => `${word}.isolation.test`;

/** Deletes all that was hidden, and its environment. Records, events and versions of it stay. */
export async function bury(gateway: Gateway, hidden: Hidden): Promise<void> {
  const { environment, routeId, serviceId, tokenId } = hidden;
  const paths = [`routes/${routeId}`, `services/${serviceId}`, `tokens/${tokenId}`];
  for (const path of [...paths, `environments/${environment}`]) {
    const { status, body } = await gateway.admin.delete(`/v1/${path}`);
    if (status !== 204) throw new Error(`DELETE ${path}: ${status} ${body}`);
  }
}

function idOf(headers: Headers): string {
  return headers.get('x-request-id') ?? '';
}
