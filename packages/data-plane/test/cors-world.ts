import { request } from 'node:http';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { corsField, type RouteCors } from '@gateway/shared/definitions/route-cors';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startTestDataPath, type TestDataPath } from './data-path.ts';

export const PAGE = 'https://app.example.com';
export const OTHER_PAGE = 'https://app.example.net';

export function corsOf(fields: Partial<RouteCors> = {}): RouteCors {
  return corsField.parse({ origins: [PAGE], ...fields });
}

export type RouteFields = Partial<SnapshotRoute> & { readonly name: string };

/** Routes of some environments; the first is the default one. */
export async function corsGateway(
  upstream: string,
  environments: Readonly<Record<string, readonly RouteFields[]>>,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDataPath> {
  const snapshots = Object.entries(environments).map(([environment, routes]) => {
    const base = testSnapshot({ upstreams: [upstream] }, 'unused');
    const [route] = base.routes;
    if (route === undefined) throw new Error('no route');
    return {
      ...base,
      environment,
      routes: routes.map((fields) => ({
        ...route,
        id: `rte_${environment}_${fields.name}`,
        ...fields,
      })),
      tokens: [],
    };
  });
  return startTestDataPath({ upstreams: [] }, { snapshots, environment: settings });
}

export interface Answer {
  readonly status: number;
  /** Several lines of a field are joined. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Call {
  readonly method?: string;
  readonly host?: string;
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
}

/** Sends a request as it is given. */
export async function send(
  { port }: Pick<TestDataPath, 'port'>,
  path: string,
  { method = 'GET', host = 'gateway.test', fields = {} }: Call = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host, ...(fields as Record<string, string | string[]>) };
    const sent = request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => {
        const lines = Object.entries(response.headersDistinct);
        resolve({
          status: response.statusCode ?? 0,
          fields: Object.fromEntries(lines.map(([name, values = []]) => [name, values.join(', ')])),
          body,
        });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** A preflight of a page. */
export function preflight(
  method = 'POST',
  headers = '',
  origin = PAGE,
): Call & { readonly fields: Record<string, string> } {
  return {
    method: 'OPTIONS',
    fields: {
      origin,
      'access-control-request-method': method,
      ...(headers === '' ? {} : { 'access-control-request-headers': headers }),
    },
  };
}
