import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { sendJson, startServer } from '../harness/server.ts';

const PAGES = 3;
const ETAG = '"1"';

/** GitHub's client, and a server whose links are absolute, as GitHub's are. */
export const octokit: Pair = {
  client: 'octokit',
  version: pinnedVersion('@octokit/core'),
  start,
  direct: {
    'option `auth`': 'answered',
    'header `Authorization: Bearer`': 'answered',
    'path of a file in a folder': '/repos/o/r/contents/a%2Fb%20c.txt',
    'If-None-Match': '304',
    '500, then 200': 'answered, 2 requests',
    'DELETE, 204': 'answered',
    'pages by `Link`': `page ${PAGES}`,
    'redirect to an absolute URL': 'answered',
    'redirect to a path': 'answered',
  },
  otherwise: {
    'option `auth`': '401',
  },
};

async function start(): Promise<StartedServer> {
  let counted = 0;
  const server = await startServer(({ request, method, path }, response) => {
    const { pathname, searchParams } = new URL(path, server.url);
    const { authorization, 'x-forwarded-for': forwarded } = request.headers;
    const seen = { through: forwarded !== undefined, token: authorization !== undefined };
    if (method === 'DELETE') response.writeHead(204).end();
    else if (pathname === '/counted') {
      counted += 1;
      sendJson(response, counted === 1 ? 500 : 200, { count: counted });
    } else if (pathname === '/cached') response.writeHead(304, { etag: ETAG }).end();
    else if (pathname === '/absolute') redirect(`${server.url}/moved`);
    else if (pathname === '/relative') redirect('/moved');
    else if (pathname === '/items') {
      const page = Number(searchParams.get('page') ?? 1);
      const next = `<${server.url}/items?page=${page + 1}>; rel="next"`;
      sendJson(response, 200, [seen], page < PAGES ? { link: next } : {});
    } else sendJson(response, 200, { path, ...seen });

    function redirect(location: string): void {
      response.writeHead(301, { location }).end();
    }
  });
  return { urls: [server.url], close: () => server.close(), use };
}

interface Answered {
  readonly path: string;
  readonly count: number;
  /** Whether the request came from a gateway, and whether it had the token. */
  readonly through: boolean;
  readonly token: boolean;
}

async function use({ url, token }: Target) {
  const Client = Octokit.plugin(paginateRest, retry);
  const options = { baseUrl: url, retry: { retryAfterBaseValue: 1 }, log: SILENT };
  const client = new Client(options);
  const headers = { authorization: `Bearer ${token}` };
  const get = async (path: string, more: object = {}) =>
    (await client.request(`GET ${path}`, { headers, ...more })).data as Answered;
  const isDirect = !url.includes('/v1/proxy/');
  /** How an answer came past the gateway. */
  const detour = ({ through, token: hasToken }: Answered) =>
    through || isDirect ? '' : ` by the server itself, ${hasToken ? 'with' : 'without'} the token`;
  const followed = async (path: string) => `answered${detour(await get(path))}`;
  return {
    'option `auth`': await outcome(async () => {
      await new Client({ ...options, auth: token }).request('GET /user');
      return 'answered';
    }),
    'header `Authorization: Bearer`': await outcome(async () => {
      await get('/user');
      return 'answered';
    }),
    'path of a file in a folder': await outcome(async () => {
      const file = { owner: 'o', repo: 'r', path: 'a/b c.txt' };
      return (await get('/repos/{owner}/{repo}/contents/{path}', file)).path;
    }),
    'If-None-Match': await outcome(async () => {
      await get('/cached', { headers: { ...headers, 'if-none-match': ETAG } });
      return 'answered';
    }),
    '500, then 200': await outcome(async () => {
      return `answered, ${(await get('/counted')).count} requests`;
    }),
    'DELETE, 204': await outcome(async () => {
      await client.request('DELETE /repos/o/r', { headers });
      return 'answered';
    }),
    'pages by `Link`': await outcome(async () => {
      const pages = await client.paginate<Answered>('GET /items', { headers });
      const last = pages.at(-1);
      return last && `page ${pages.length}${detour(last)}`;
    }),
    'redirect to an absolute URL': await outcome(() => followed('/absolute')),
    'redirect to a path': await outcome(() => followed('/relative')),
  };
}

/** The client warns of each error that it retries. */
const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
