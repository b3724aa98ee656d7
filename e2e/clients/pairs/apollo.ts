import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { installedPackages, type Load } from '../harness/npm-packages.ts';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { sendJson, startServer } from '../harness/server.ts';

const PACKAGES = { '@apollo/client': '4.3.8', graphql: '16.15.0', rxjs: '7.8.2' };
const SCHEMA = `
  type Query { hello(name: String!): String, refused: String, first: String, later: String }
  type Mutation { add(count: Int!): Int }
`;
const HELLO = 'query Hello($name: String!) { hello(name: $name) }';
const DEFERRED = 'query Deferred { first ... @defer { later } }';
const variables = { name: 'é' };

/** Apollo Client, and a server that runs operations with `graphql`. */
export const apollo: Pair = {
  client: 'Apollo Client',
  version: PACKAGES['@apollo/client'],
  start,
  direct: {
    query: 'hello é',
    'query with GET': 'hello é',
    mutation: '3',
    'error of a field': 'error: refused by the server',
    'error of the server': '503',
    'persisted query': 'hello é, asked for by its hash',
    '`@defer`': 'the first part arrives before the second is sent',
  },
  otherwise: {},
};

interface GraphQl {
  readonly buildSchema: (source: string) => unknown;
  readonly graphql: (operation: object) => Promise<object>;
}

/** The parts of Apollo Client that this test uses. */
interface Apollo {
  ApolloClient: new (options: object) => {
    query(options: object): Promise<{ data: Record<string, string | number> }>;
    mutate(options: object): Promise<{ data: Record<string, string | number> }>;
    watchQuery(options: object): { subscribe(observer: object): { unsubscribe(): void } };
  };
  HttpLink: new (options: object) => Link;
  InMemoryCache: new () => unknown;
  readonly gql: (source: string) => unknown;
}

interface Link {
  concat(link: Link): Link;
}

interface Operation {
  readonly query?: string;
  readonly operationName?: string;
  readonly variables?: object;
  readonly extensions?: { readonly persistedQuery?: { readonly sha256Hash: string } };
}

async function start(): Promise<StartedServer> {
  const load = await installedPackages(PACKAGES);
  const { buildSchema, graphql } = load('graphql') as GraphQl;
  const schema = buildSchema(SCHEMA);
  const persisted = new Map<string, string>();
  const events = new EventEmitter();
  const rootValue = {
    hello: ({ name }: { name: string }) => `hello ${name}`,
    add: ({ count }: { count: number }) => count + 1,
    refused() {
      throw new Error('refused by the server');
    },
  };
  const server = await startServer(async ({ method, path, body }, response) => {
    const { pathname, searchParams } = new URL(path, server.url);
    const operation = method === 'GET' ? ofQuery(searchParams) : ofBody(body);
    const hash = operation.extensions?.persistedQuery?.sha256Hash;
    const source = operation.query ?? persisted.get(hash ?? '');
    if (hash !== undefined && source !== undefined) persisted.set(hash, source);
    if (pathname === '/busy') response.writeHead(503).end();
    else if (source === undefined) {
      sendJson(response, 200, { errors: [{ message: 'PersistedQueryNotFound' }] });
    } else if (operation.operationName === 'Deferred') await sendParts(response, events);
    else {
      const variableValues = operation.variables;
      const headers = { 'x-method': method };
      sendJson(
        response,
        200,
        await graphql({ schema, source, rootValue, variableValues }),
        headers,
      );
    }
  });
  return {
    urls: [server.url],
    use: (target) => use(target, load, events),
    close: () => server.close(),
  };
}

const ofBody = (body: Buffer) => JSON.parse(body.toString()) as Operation;

function ofQuery(search: URLSearchParams): Operation {
  const entries = [...search].map(([name, value]) => {
    const isJson = name === 'variables' || name === 'extensions';
    return [name, isJson ? (JSON.parse(value) as unknown) : value] as const;
  });
  return Object.fromEntries(entries) as Operation;
}

/** Sends the second part when the client has received the first. */
async function sendParts(response: ServerResponse, events: EventEmitter): Promise<void> {
  const type = 'Content-Type: application/json\r\n\r\n';
  const part = (value: object) => `${type}${JSON.stringify(value)}\r\n---`;
  response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="-"' });
  const received = once(events, 'received');
  response.write(`---\r\n${part({ data: { first: 'one' }, hasNext: true })}\r\n`);
  await received;
  const incremental = [{ data: { later: 'two' }, path: [] }];
  response.end(`${part({ incremental, hasNext: false })}--\r\n`);
}

async function use({ url, token }: Target, load: Load, events: EventEmitter) {
  const { ApolloClient, HttpLink, InMemoryCache, gql } = load('@apollo/client') as Apollo;
  const { createPersistedQueryLink } = load('@apollo/client/link/persisted-queries') as {
    readonly createPersistedQueryLink: (options: object) => Link;
  };
  const { Defer20220824Handler } = load('@apollo/client/incremental') as {
    Defer20220824Handler: new () => unknown;
  };
  const headers = { authorization: `Bearer ${token}` };
  const httpLink = (path: string, options = {}) =>
    new HttpLink({ uri: url + path, headers, ...options });
  const clientOf = (link: Link) =>
    new ApolloClient({
      link,
      cache: new InMemoryCache(),
      incrementalHandler: new Defer20220824Handler(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
    });
  const client = clientOf(httpLink('/graphql'));
  const hello = async (one: typeof client) =>
    (await one.query({ query: gql(HELLO), variables })).data['hello']?.toString();

  return {
    query: await outcome(() => hello(client)),
    'query with GET': await outcome(() =>
      hello(clientOf(httpLink('/graphql', { useGETForQueries: true }))),
    ),
    mutation: await outcome(async () => {
      const mutation = gql('mutation Add($count: Int!) { add(count: $count) }');
      return (await client.mutate({ mutation, variables: { count: 2 } })).data['add']?.toString();
    }),
    'error of a field': await outcome(async () => {
      await client.query({ query: gql('{ refused }') });
      return 'answered';
    }),
    'error of the server': await outcome(() => hello(clientOf(httpLink('/busy')))),
    'persisted query': await outcome(async () => {
      const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
      const methods: string[] = [];
      const fetchAndNote = (address: string, init: { method: string }) => {
        methods.push(init.method);
        return fetch(address, init);
      };
      const hashed = createPersistedQueryLink({ sha256, useGETForHashedQueries: true });
      const persisting = clientOf(hashed.concat(httpLink('/graphql', { fetch: fetchAndNote })));
      await hello(persisting);
      const answer = await hello(persisting);
      const isByHash = methods.join() === 'GET,POST,GET';
      return isByHash ? `${answer}, asked for by its hash` : methods.join();
    }),
    '`@defer`': await outcome(() => {
      const done = Promise.withResolvers<string>();
      const watched = client.watchQuery({ query: gql(DEFERRED), fetchPolicy: 'no-cache' });
      const subscription = watched.subscribe({
        next({ data }: { data?: { first?: string; later?: string } }) {
          if (data?.later === 'two')
            done.resolve('the first part arrives before the second is sent');
          else if (data?.first === 'one') events.emit('received');
        },
        error: done.reject,
      });
      return done.promise.finally(() => subscription.unsubscribe());
    }),
  };
}
