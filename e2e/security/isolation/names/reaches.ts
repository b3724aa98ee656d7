/**
 * What a value names, and who sends it. Of a caller of `production` and all routes: something of another environment, a
 * token that covers more or `*`, something of a deleted environment, and nothing that exists. Of a caller of `production`
 * and some routes: something of another route there, and nothing. Of a caller of an environment that was deleted and made
 * again: something of the former one.
 */
const REACHES = ['env', 'tok', 'del', 'none', 'rte', 'none of rte', 'again'] as const;
export type Reach = (typeof REACHES)[number];

/** The kinds of value. */
export type Named =
  | 'environment'
  | 'service'
  | 'service id'
  | 'upstream'
  | 'route'
  | 'route id'
  | 'route version'
  /** Of a route. */
  | 'host'
  | 'token'
  | 'token id'
  | 'scope'
  | 'request id'
  | 'call id'
  | 'any id'
  | 'version'
  | 'data plane'
  /** A position in a list, which contains an id. */
  | 'position'
  /** The state of the resource that the other places of the call name. */
  | 'state'
  /** All that the body does not name. */
  | 'rest'
  /** The key of a stored response. */
  | 'key'
  /** A secret of a service; guessed-secrets.ts tries them. */
  | 'secret';

/**
 * `x`: 401 authentication_failed. A number: refused with that status. `-`: an answer without what is out of reach. `ok`: the
 * call succeeds, on resources of the caller alone. `.`: there is no such value. Cells of one caller with the same refusal, or
 * with `-`, have the same answer to the byte, so a caller cannot tell what exists.
 */
export type Cell = 'x' | '-' | 'ok' | '400' | '404' | '409' | '.';

export interface NamingRow {
  readonly named: Named;
  readonly cells: ReadonlyMap<Reach, Cell>;
}

/**
 * Each place of a call whose value can name something, after its endpoint, its method and collection, or one of these if that
 * decides; `*.token` is a field of an object. The first column says what it names. `header X-Gateway-Environment` is sent with
 * each operation: it counts on the proxy path alone.
 */
export const NAMING: ReadonlyMap<string, NamingRow> = table(`
                                                  env  tok  del  none | rte  none | again
header X-Gateway-Environment      : environment | ok   .    .    .    | ok   .    | .
GET header X-Gateway-Environment  : environment | ok   .    .    .    | ok   .    | ok
GET /v1/openapi.json header X-Gateway-Environment  : environment | ok . . . | . . | .
POST /v1/environments header X-Gateway-Environment : environment | x  . . . | x . | .
DELETE environments header X-Gateway-Environment   : environment | x  . . . | x . | .
POST /v1/config/rollback header X-Gateway-Environment : environment | ok . . . | x . | .
POST /v1/environments/{name}/rollback header X-Gateway-Environment : environment | ok . . . | x . | .

path name                         : environment | x    .    x    x    | .    .    | .
GET environments path name        : environment | x    .    x    x    | .    .    | ok
query environment                 : environment | -    .    -    -    | .    .    | -
PUT query environment             : environment | x    .    x    x    | .    .    | .
config query environment          : environment | x    .    x    x    | .    .    | .
data-planes query environment     : environment | x    .    x    x    | .    .    | ok
body environment                  : environment | x    .    x    x    | .    .    | .
PATCH body environment            : environment | 400  .    400  400  | .    .    | .
PUT body environment              : environment | 400  .    400  400  | .    .    | .
environments body environment     : environment | 400  .    400  400  | .    .    | .
environments body name            : environment | x    .    x    x    | .    .    | .
tokens body environments          : environment | x    x    x    x    | .    .    | .
PATCH tokens body environments    : environment | 400  400  400  400  | .    .    | .
body headers                      : environment | 400  .    400  400  | .    .    | .

PUT services path id              : service     | ok   .    ok   ok   | .    .    | .
services query name               : service     | -    .    -    -    | .    .    | -
services query search             : service     | -    .    -    -    | .    .    | -
services body name                : service     | ok   .    ok   ok   | .    .    | .
PUT services body name            : service     | 400  .    400  400  | .    .    | .
body services[].name              : service     | ok   .    ok   ok   | .    .    | .
body routes[].service             : service     | 400  .    400  400  | .    .    | .
body routes[].versions[].service  : service     | 400  .    400  400  | .    .    | .
body routes[].mirror.service      : service     | 400  .    400  400  | .    .    | .
services path id                  : service id  | x    .    404  404  | ok   404  | 404
DELETE services path id           : service id  | x    .    404  404  | 409  404  | 404
services query ids                : service id  | -    .    -    -    | ok   -    | -
query service_id                  : service id  | -    .    -    -    | -    -    | -
body service_id                   : service id  | x    .    400  400  | ok   400  | .
body versions[].service_id        : service id  | x    .    400  400  | ok   400  | .
body mirror.service_id            : service id  | x    .    400  400  | ok   400  | .
services body id                  : service id  | 400  .    400  400  | .    .    | .
query upstream                    : upstream    | -    .    -    -    | -    -    | -
*.token                           : secret      | .    .    .    .    | .    .    | .
*.username                        : secret      | .    .    .    .    | .    .    | .
*.password                        : secret      | .    .    .    .    | .    .    | .
*.value                           : secret      | .    .    .    .    | .    .    | .
*.key_pem                         : secret      | .    .    .    .    | .    .    | .

PUT routes path id                : route       | ok   .    ok   ok   | x    x    | .
query name                        : route       | -    .    -    -    | -    -    | -
query search                      : route       | -    .    -    -    | -    -    | -
query route                       : route       | -    .    -    -    | -    -    | -
stats query names                 : route       | -    .    -    -    | -    -    | -
routes body name                  : route       | ok   .    ok   ok   | x    x    | .
PATCH routes body name            : route       | 409  .    409  409  | x    x    | .
PUT routes body name              : route       | 400  .    400  400  | 400  400  | .
body routes[].name                : route       | ok   .    ok   ok   | x    x    | .
tokens body routes                : route       | ok   .    ok   ok   | x    x    | .
PATCH tokens body routes          : route       | 400  .    400  400  | 400  400  | .
POST routes body path             : route       | ok   .    ok   ok   | ok   ok   | .
body match[].hosts                : host        | 409  .    ok   ok   | ok   ok   | .
body routes[].match[].hosts       : host        | 409  .    ok   ok   | ok   ok   | .
POST routes body host             : host        | ok   .    ok   ok   | ok   ok   | .
routes path id                    : route id    | x    .    404  404  | x    404  | 404
routes body id                    : route id    | 400  .    400  400  | 400  400  | .
stats query version               : route version | -  .    -    -    | -    -    | -

tokens body name                  : token       | ok   ok   ok   ok   | 409  ok   | .
tokens query search               : token       | -    -    -    -    | -    -    | .
tokens query ids                  : token id    | -    -    -    -    | -    -    | -
tokens path id                    : token id    | x    x    404  404  | x    404  | 404
query token_id                    : token id    | -    -    -    -    | -    -    | -
body token_id                     : token id    | x    x    400  400  | x    400  | .
tokens body id                    : token id    | 400  400  400  400  | 400  400  | .
tokens body created_by            : token id    | 400  400  400  400  | 400  400  | .
tokens body scopes                : scope       | .    x    .    400  | .    .    | .
PATCH tokens body scopes          : scope       | .    400  .    400  | .    .    | .
header Idempotency-Key            : key         | .    ok   .    .    | .    .    | .
POST /v1/environments header Idempotency-Key : key | . x    .    .    | .    .    | .

requests path id                  : request id  | x    .    x    404  | x    404  | x
query request_id                  : call id     | -    .    -    -    | -    -    | -
query resource_id                 : any id      | -    -    -    -    | -    -    | -
query resource_ids                : any id      | -    -    -    -    | -    -    | -
path version                      : version     | .    .    .    404  | ok   404  | 404
body version                      : version     | .    .    .    404  | x    x    | 404
config query from                 : version     | .    .    .    404  | ok   404  | 404
config query to                   : version     | .    .    .    404  | ok   404  | 404
environments query from           : version     | .    .    .    404  | ok   404  | 404
environments query to             : version     | .    .    .    404  | ok   404  | 404
query cursor                      : position    | -    .    .    400  | -    400  | .
data-planes query cursor          : position    | .    .    .    400  | .    400  | .
header If-Match                   : state       | x    .    .    x    | .    .    | .
header If-None-Match              : state       | x    .    .    x    | .    .    | .
routes header If-Match            : state       | x    .    .    x    | x    x    | .
routes header If-None-Match       : state       | x    .    .    x    | x    x    | .
body if_version                   : state       | x    .    .    x    | .    .    | .
body prune                        : rest        | .    .    .    .    | 409  .    | .
body data_plane                   : data plane  | .    .    .    400  | .    400  | .
`);

/** The names of parameters and fields that name nothing, wherever they are. */
export const NAMES_NOTHING: ReadonlySet<string> = new Set(
  `
  by header cookie retry_elsewhere
  limit status status_class grpc_status outcome kind method error_code min_duration_ms since until step failed counts order resource_type action Prefer
  health_path grpc_service interval_ms timeout_ms healthy_threshold unhealthy_threshold max_in_flight max_connections max_pending
  adaptive protocol websocket_protocol send_via early_hints exact prefix url region weight type ca_pem server_name cert_pem
  max_upload_ms min_upload_bytes_per_second body_idle_timeout_ms
  retry_count methods issuer audience jwks_url algorithms required_claims window_seconds per on_store_unavailable
  on_statuses per_attempt_timeout_ms backoff_ms unsafe_methods required mode on_unknown repeatable_statuses regions max_body_bytes streaming max_message_bytes grpc_errors
  allow_encoded_control_characters enabled sample_ratio content_type location percent pass_credentials
  origins expose credentials max_age_s
  strip_prefix add_prefix remove
  locations body anonymous client_ip dry_run expires_at grace_seconds revision created_at updated_at last_used_at secret_prefix state
  `
    .trim()
    .split(/\s+/),
);

/** Places that name nothing although others with their name do: times, and parts of the object itself. */
export const PLACES_NAME_NOTHING: ReadonlySet<string> = new Set([
  'stats query from',
  'stats query to',
  'body query',
  'body cors.headers',
  'body routes[].cors.headers',
  'body health_check.path',
  'body services[].health_check.path',
  'body credential.name',
  'body services[].credential.name',
  'body versions[].name',
  'body routes[].versions[].name',
  'body match[].headers[].name',
  'body match[].headers[].value',
  'body routes[].match[].headers[].name',
  'body routes[].match[].headers[].value',
  ...rewritten('path', 'host', 'query.set[]', 'request_headers.set[]', 'request_headers.add[]'),
  ...rewritten('response_headers.set[]', 'response_headers.add[]'),
]);

/** Parts of what an upstream or a caller gets. */
function rewritten(...parts: readonly string[]): readonly string[] {
  return parts.flatMap((part) => {
    const leaves = part.endsWith('[]') ? [`${part}.name`, `${part}.value`] : [part];
    return leaves.flatMap((leaf) => [`body rewrite.${leaf}`, `body routes[].rewrite.${leaf}`]);
  });
}

function table(text: string): ReadonlyMap<string, NamingRow> {
  const [, ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  return new Map(
    lines.map((line) => {
      const [place = '', named = '', ...groups] = line.split(/\s+[:|]\s+/);
      const cells = groups.flatMap((group) => group.trim().split(/\s+/)) as Cell[];
      if (cells.length !== REACHES.length) throw new Error(`not a cell for each reach: ${line}`);
      const byReach = REACHES.map((reach, index) => [reach, cells[index] ?? '.'] as const);
      return [place, { named: named as Named, cells: new Map(byReach) }];
    }),
  );
}
