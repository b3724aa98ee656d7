import Stripe from 'stripe';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { sendJson, startServer } from '../harness/server.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';

const PAGES = 3;
const ID_OF_SERVER = 'req_of_the_server';

/** Stripe's SDK. docs/use/policies/idempotency-keys.md has its retries, with a test of their own. */
export const stripe: Pair = {
  client: 'Stripe SDK',
  version: pinnedVersion('stripe'),
  start,
  direct: {
    'option `host`': 'answered',
    'option `httpClient` that adds the route': 'answered',
    'key of a POST': 'sent',
    'pages of a list': `${PAGES} pages`,
    'error of the server': '402 card_declined',
    '`requestId`': 'of the server',
  },
  otherwise: { 'option `host`': '404' },
};

async function start(): Promise<StartedServer> {
  const headers = { 'request-id': ID_OF_SERVER };
  const server = await startServer(({ request, path, body }, response) => {
    const { pathname, searchParams } = new URL(path, server.url);
    if (pathname === '/v1/customers') {
      const page = Number(searchParams.get('starting_after') ?? 0) + 1;
      const data = [{ id: String(page), object: 'customer' }];
      sendJson(response, 200, { object: 'list', data, has_more: page < PAGES });
    } else if (body.includes('declined')) {
      sendJson(response, 402, { error: { type: 'card_error', code: 'card_declined' } });
    } else {
      const key = request.headers['idempotency-key'];
      sendJson(response, 200, { id: 'ch_1', metadata: { key } }, headers);
    }
  });
  return {
    urls: [server.url],
    route: { idempotency: { mode: 'off' } },
    close: () => server.close(),
    use,
  };
}

async function use({ url, token }: Target) {
  const { hostname, port, origin, pathname } = new URL(url);
  const options = { host: hostname, port, protocol: 'http', telemetry: false } as const;
  const addRoute: typeof fetch = (address, init) => {
    const called = new URL(address instanceof Request ? address.url : address);
    const route = pathname === '/' ? '' : pathname;
    return fetch(origin + route + called.pathname + called.search, init);
  };
  const httpClient = Stripe.createFetchHttpClient(addRoute);
  const client = new Stripe(token, { ...options, httpClient });
  const charge = (one: Stripe, source = 'tok_visa') =>
    one.charges.create({ amount: 500, currency: 'eur', source });
  const charged = await charge(client);
  return {
    'option `host`': await outcome(async () => {
      await charge(new Stripe(token, options));
      return 'answered';
    }),
    'option `httpClient` that adds the route': charged.id === 'ch_1' ? 'answered' : charged.id,
    'key of a POST': charged.metadata['key'] === undefined ? 'not sent' : 'sent',
    'pages of a list': await outcome(async () => {
      const customers = await client.customers.list().autoPagingToArray({ limit: 10 });
      return `${customers.length} pages`;
    }),
    'error of the server': await charge(client, 'declined').then(
      () => 'answered',
      (error: unknown) => {
        const { statusCode, code } = error as { statusCode: number; code: string };
        return `${statusCode} ${code}`;
      },
    ),
    '`requestId`':
      charged.lastResponse.requestId === ID_OF_SERVER ? 'of the server' : 'of the gateway',
  };
}
