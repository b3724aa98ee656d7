import type { Gateway } from '../../harness/gateway.ts';
import type { Operation } from './document.ts';

/** Makes a resource for an operation, and returns the part of it that paths contain. */
type Make = (part: 'id' | 'name', method: string, path: string) => Promise<string>;

const UNKNOWN = '01k2m8v4zj5r7c9e1g3p6t8w0x';

/** What the operations of the contract work on. */
export interface Resources {
  /** The values of the path parameters of an operation. A DELETE gets a new resource each time. */
  pathOf(operation: Operation, exists: boolean): Promise<string>;
  /** A service and a token that bodies may name. */
  readonly serviceId: string;
  readonly tokenId: string;
}

/** Makes resources in `production`. Rollbacks happen in `development`, so that they do not remove them. */
export async function makeResources(gateway: Gateway): Promise<Resources> {
  const { admin } = gateway;
  const { id: serviceId } = await gateway.service();
  const { id: servedRouteId } = await gateway.route({ name: 'recorded' });
  const { tokenId } = await gateway.tokenClient();
  await gateway.settled();
  const answer = await admin.proxy('recorded');
  const requestId = answer.headers.get('x-request-id') ?? '';
  let made = 0;

  const makers: Readonly<Record<string, Make>> = {
    services: async (part) => String((await gateway.service())[part]),
    routes: async (part) => String((await gateway.route({ service_id: serviceId }))[part]),
    tokens: async () => (await gateway.tokenClient({ environments: ['production'] })).tokenId,
    requests: () => Promise.resolve(requestId),
    environments: async (_part, method, path) => {
      // Only an environment with resources has versions.
      if (path.endsWith('/rollback')) return 'development';
      if (method !== 'DELETE') return 'production';
      made += 1;
      const name = `contract-${made}`;
      await admin.create('/v1/environments', { name });
      return name;
    },
    versions: () => Promise.resolve('1'),
  };

  async function resolve({ method, path }: Operation, exists: boolean): Promise<string> {
    // Only a route that data planes serve can be explained.
    let whole = exists && path.endsWith('/explain') ? path.replace('{id}', servedRouteId) : path;
    // A PUT names the resource.
    const part = method === 'PUT' ? 'name' : 'id';
    for (const [placeholder] of whole.matchAll(/\{\w+\}/g)) {
      const before = whole.slice(0, whole.indexOf(placeholder) - 1);
      const kind = before.slice(before.lastIndexOf('/') + 1);
      const make = makers[kind];
      if (make === undefined) throw new Error(`the contract test cannot make ${kind}`);
      const value = exists ? await make(part, method, path) : unknownOf(kind, part);
      whole = whole.replace(placeholder, value);
    }
    return whole;
  }

  const resolved = new Map<string, string>();
  return {
    serviceId,
    tokenId,
    async pathOf(operation, exists) {
      if (!exists || operation.method === 'DELETE') return resolve(operation, exists);
      const { operationId } = operation;
      const path = resolved.get(operationId) ?? (await resolve(operation, true));
      resolved.set(operationId, path);
      return path;
    },
  };
}

function unknownOf(kind: string, part: 'id' | 'name'): string {
  const prefix = { services: 'svc', routes: 'rte', tokens: 'tok', requests: 'req' }[kind];
  if (prefix === undefined) return kind === 'versions' ? '999999' : 'no-such-name';
  return part === 'name' ? 'put-by-name' : `${prefix}_${UNKNOWN}`;
}
