import { gunzipSync } from 'node:zlib';
import { Client, errors } from '@elastic/elasticsearch';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { sendJson, startServer } from '../harness/server.ts';

const DOCUMENTS = 500;
/** The client refuses a server without it. */
const PRODUCT = { 'x-elastic-product': 'Elasticsearch' };

/** Elasticsearch's client, and a server that answers with what it received. */
export const elasticsearch: Pair = {
  client: 'Elasticsearch client',
  version: pinnedVersion('@elastic/elasticsearch'),
  start,
  direct: {
    'bulk, compressed': `${DOCUMENTS} documents`,
    search: '1 hit',
    'id with a slash and an umlaut': '/books/_doc/a%2Fb%C3%BC',
    'HEAD of a document that is missing': 'false',
    'error of the server': '400 parsing_exception',
    '503, then 200': 'answered, 2 requests',
    'header `X-API-Key` of the constructor': 'answered',
  },
  otherwise: {},
};

async function start(): Promise<StartedServer> {
  let counted = 0;
  const server = await startServer(({ request, method, path, body }, response) => {
    const send = (status: number, value: unknown) => sendJson(response, status, value, PRODUCT);
    const sent = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    if (path.endsWith('/_bulk')) {
      send(200, { errors: false, items: sent.toString().trim().split('\n') });
    } else if (path.startsWith('/refused')) {
      send(400, { error: { type: 'parsing_exception' }, status: 400 });
    } else if (path.startsWith('/counted')) {
      counted += 1;
      send(counted === 1 ? 503 : 200, { count: counted });
    } else if (method === 'HEAD') send(404, {});
    else send(200, { hits: { hits: [{ _id: 'one' }] }, _id: path });
  });
  return { urls: [server.url], close: () => server.close(), use };
}

async function use({ url, token }: Target) {
  const settings = { node: url, auth: { bearer: token }, compression: true };
  const client = new Client(settings);
  const document = { title: 'A title that compresses well '.repeat(4) };
  const operations = Array.from({ length: DOCUMENTS }, () => [{ index: {} }, document]).flat();
  return {
    'bulk, compressed': await outcome(async () => {
      const { items } = await client.bulk({ index: 'books', operations });
      return `${items.length / 2} documents`;
    }),
    search: await outcome(async () => {
      const found = await client.search({ index: 'books', query: { match_all: {} } });
      return `${found.hits.hits.length} hit`;
    }),
    'id with a slash and an umlaut': await outcome(async () => {
      return (await client.index({ index: 'books', id: 'a/bü', document }))._id;
    }),
    'HEAD of a document that is missing': await outcome(() =>
      client.exists({ index: 'books', id: 'missing' }),
    ),
    'error of the server': await client.search({ index: 'refused' }).then(
      () => 'answered',
      (error: unknown) => {
        if (!(error instanceof errors.ResponseError)) return String(error);
        return `${error.statusCode} ${(error.body as { error: { type: string } }).error.type}`;
      },
    ),
    '503, then 200': await outcome(async () => {
      const { count } = (await client.count({ index: 'counted' })) as unknown as { count: number };
      return `answered, ${count} requests`;
    }),
    'header `X-API-Key` of the constructor': await outcome(async () => {
      const other = new Client({ ...settings, headers: { 'X-API-Key': 'key-of-the-server' } });
      await other.search({ index: 'books' });
      return 'answered';
    }),
  };
}
