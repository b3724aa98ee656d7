/** The callers of the isolation matrix, in the order of its columns. */
export const CALLERS = [
  'without a token',
  'with an unknown token',
  'with an expired token',
  'with a revoked token',
  'with a secret that was rotated away',
  'with a secret within its grace',
  'of another environment',
  'of another route',
  'that may only read',
  'without services:read',
  'without services:write',
  'without routes:read',
  'without routes:write',
  'without requests:read',
  'without tokens:read',
  'without tokens:write',
  'without config:read',
  'without config:write',
  'without audit:read',
  'without proxy',
  'with exactly the required rights',
] as const;

export type CallerKind = (typeof CALLERS)[number];

/**
 * `ok`: the call succeeds. `204`: it succeeds and shows nothing, because the caller may not read the
 * resource. `x`: 401 authentication_failed, and nothing changes. `-`: a list without the resource.
 * `404`: route_not_found.
 */
export type Expectation = 'ok' | '204' | 'x' | '-' | '404';

export type Row = readonly [name: string, cells: ReadonlyMap<CallerKind, Expectation>];

/**
 * Every endpoint of the management API. The resource is in `production` and, if it has a route, on
 * the route `orders`; if it is a token, it has the scope `proxy`. A caller has every scope, route
 * and environment except as its column says. It covers the environment `production`, or all
 * environments if the endpoint requires that. `grac`: it may do everything but create and change tokens.
 */
export const MANAGEMENT = table(`
                              none unkn exp  rev  rot  grac | env  rte  read | -sr  -sw  -rr  -rw  -qr  -tr  -tw  -cr  -cw  -ar  -px | just
GET /v1/openapi.json        | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/whoami              | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/links               | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/environments        | x    x    x    x    x    ok  | -    ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
DELETE /v1/environments/{name} | x    x    x    x    x    ok  | x    ok   x  | ok   ok   ok   ok   ok   ok   ok   x    x    x    ok   | ok
POST /v1/environments       | x    x    x    x    x    ok  | x    ok   x  | ok   ok   ok   ok   ok   ok   ok   x    x    x    ok   | ok
GET /v1/environments/{name} | x    x    x    x    x    ok  | x    ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/services            | x    x    x    x    x    ok  | -    ok   ok | x    ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
POST /v1/services           | x    x    x    x    x    ok  | x    ok   x  | ok   x    ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/services/{id}       | x    x    x    x    x    ok  | x    ok   ok | x    ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/services/{id}/health | x    x    x    x    x    ok  | x    ok   ok | x    ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
POST /v1/connection-tests   | x    x    x    x    x    ok  | x    ok   x  | ok   x    ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
PUT /v1/services/{id}       | x    x    x    x    x    ok  | x    ok   x  | ok   x    ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
PATCH /v1/services/{id}     | x    x    x    x    x    ok  | x    ok   x  | 204  x    ok   ok   ok   ok   ok   ok   ok   ok   ok   | 204
DELETE /v1/services/{id}    | x    x    x    x    x    ok  | x    ok   x  | ok   x    ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/routes              | x    x    x    x    x    ok  | -    -    ok | ok   ok   x    ok   ok   ok   ok   ok   ok   ok   ok   | ok
POST /v1/routes             | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   x    ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/routes/{id}         | x    x    x    x    x    ok  | x    x    ok | ok   ok   x    ok   ok   ok   ok   ok   ok   ok   ok   | ok
PUT /v1/routes/{id}         | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   x    ok   ok   ok   ok   ok   ok   ok   | ok
PATCH /v1/routes/{id}       | x    x    x    x    x    ok  | x    x    x  | ok   ok   204  x    ok   ok   ok   ok   ok   ok   ok   | 204
DELETE /v1/routes/{id}      | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   x    ok   ok   ok   ok   ok   ok   ok   | ok
POST /v1/routes/{id}/explain | x    x    x    x    x    ok  | x    x    ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
GET /v1/tokens              | x    x    x    x    x    ok  | -    -    -  | ok   ok   ok   ok   ok   x    ok   ok   ok   ok   -    | ok
POST /v1/tokens             | x    x    x    x    x    x   | x    x    x  | ok   ok   ok   ok   ok   x    x    ok   ok   ok   x    | ok
GET /v1/tokens/{id}         | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   x    ok   ok   ok   ok   x    | ok
PATCH /v1/tokens/{id}       | x    x    x    x    x    x   | x    x    x  | ok   ok   ok   ok   ok   x    x    ok   ok   ok   x    | ok
DELETE /v1/tokens/{id}      | x    x    x    x    x    x   | x    x    x  | ok   ok   ok   ok   ok   x    x    ok   ok   ok   x    | ok
POST /v1/tokens/{id}/rotate | x    x    x    x    x    x   | x    x    x  | ok   ok   ok   ok   ok   x    x    ok   ok   ok   x    | ok
GET /v1/requests            | x    x    x    x    x    ok  | -    -    ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/requests/{id}       | x    x    x    x    x    ok  | x    x    ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/stats               | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/stats/routes        | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/stats/requests      | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/stats/callers       | x    x    x    x    x    ok  | ok   ok   ok | ok   ok   ok   ok   x    ok   ok   ok   ok   ok   ok   | ok
GET /v1/audit-events        | x    x    x    x    x    ok  | -    -    ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   x    ok   | ok
GET /v1/data-planes         | x    x    x    x    x    ok  | -    ok   ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
POST /v1/environments/{name}/apply | x  x    x    x    x    ok  | x    x    x  | 204  x    204  x    ok   ok   ok   ok   ok   ok   ok   | 204
GET /v1/environments/{name}/export | x  x    x    x    x    ok  | x    ok   ok | x    ok   x    ok   ok   ok   ok   ok   ok   ok   ok   | ok
GET /v1/environments/{name}/versions | x    x    x    x    x    ok  | x    ok   ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
GET /v1/environments/{name}/versions/{version} | x x  x    x    x    ok  | x    ok   ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
GET /v1/environments/{name}/diff | x    x    x    x    x    ok  | x    -    ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
POST /v1/environments/{name}/rollback | x    x    x    x    x    ok  | x    x    x  | ok   x    ok   x    ok   ok   ok   x    x    x    ok   | ok
GET /v1/config/versions     | x    x    x    x    x    ok  | x    ok   ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
GET /v1/config/versions/{version} | x x  x    x    x    ok  | x    ok   ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
GET /v1/config/diff         | x    x    x    x    x    ok  | x    -    ok | ok   ok   ok   ok   ok   ok   ok   x    ok   ok   ok   | ok
POST /v1/config/rollback    | x    x    x    x    x    ok  | x    x    x  | ok   x    ok   x    ok   ok   ok   x    x    x    ok   | ok
`);

/**
 * The proxy path, by authentication of the route and by kind of request. A workspace token does not
 * authenticate on a JWT route, and does not harm a caller with a JWT: it is sent in addition, in
 * `X-API-Key`.
 */
export const PROXY = table(`
                              none unkn exp  rev  rot  grac | env  rte  read | -sr  -sw  -rr  -rw  -qr  -tr  -tw  -cr  -cw  -ar  -px | just
a route by token            | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a path below a route        | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a route by API key          | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a route by JWT              | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
a route by JWT, with one    | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
a route by JWT, outdated    | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
a route by another's JWT    | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
a route that is open to all | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
a route that is not there   | x    x    x    x    x    404 | x    x    x  | 404  404  404  404  404  404  404  404  404  404  x    | x
no environment named        | x    x    x    x    x    ok  | 404  x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a host and path of a route  | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a host and path of an open  | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
a host, no environment      | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
a host, another environment | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
a host, a path of no route  | 404  404  404  404  404  404 | 404  404  404 | 404  404  404  404  404  404  404  404  404  404  404  | 404
a host, a name of no route  | x    x    x    x    x    404 | x    x    x  | 404  404  404  404  404  404  404  404  404  404  x    | x
a host, a management path   | 404  404  404  404  404  404 | 404  404  404 | 404  404  404  404  404  404  404  404  404  404  404  | 404
WebSocket by token          | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
WebSocket by API key        | x    x    x    x    x    ok  | x    x    x  | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   x    | ok
WebSocket by JWT            | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
WebSocket by JWT, with one  | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
WebSocket by JWT, outdated  | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
WebSocket by another's JWT  | x    x    x    x    x    x   | x    x    x  | x    x    x    x    x    x    x    x    x    x    x    | x
WebSocket that is open      | ok   ok   ok   ok   ok   ok  | ok   ok   ok | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   | ok
WebSocket to no route       | x    x    x    x    x    404 | x    x    x  | 404  404  404  404  404  404  404  404  404  404  x    | x
`);

function table(text: string): readonly Row[] {
  const [, ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', ...groups] = line.split('|').map((part) => part.trim());
    const cells = groups.flatMap((group) => group.split(/ +/)) as Expectation[];
    if (cells.length !== CALLERS.length) throw new Error(`not a cell for each caller: ${line}`);
    return [name, new Map(CALLERS.map((caller, index) => [caller, cells[index] ?? 'x']))];
  });
}
