import type { Conversion, RouteDraft } from '../draft.ts';
import { WrongType } from '../source-node.ts';
import { MAX_BODY_BYTES, within } from '../values.ts';
import { redirectTo, terminate } from './answers.ts';
import { readCors } from './cors.ts';
import type { KongPlugin } from './plugin.ts';
import { transformRequest, transformResponse } from './transformers.ts';

type Handler = (route: RouteDraft, plugin: KongPlugin) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  cors: readCors,
  'key-auth': keyAuth,
  redirect: redirectTo,
  'request-termination': terminate,
  'rate-limiting': rateLimiting,
  'request-size-limiting': sizeLimiting,
  'request-transformer': transformRequest,
  'request-transformer-advanced': transformRequest,
  'response-transformer': transformResponse,
  'response-transformer-advanced': transformResponse,
};

/** Plugins that guard nothing and change no request, with what stands for them here. */
const WITHOUT_FIELD: Readonly<Record<string, readonly ['missing' | 'note', string]>> = {
  prometheus: ['note', 'prometheus: /metrics of every process is always on'],
  'correlation-id': ['note', 'correlation-id: every request has X-Request-Id, in the answer too'],
  opentelemetry: ['missing', 'opentelemetry: set OTEL_… of the data planes'],
  zipkin: ['missing', 'zipkin: set OTEL_… of the data planes'],
  'proxy-cache': ['missing', 'proxy-cache: there is no cache of responses'],
  'proxy-cache-advanced': ['missing', 'proxy-cache-advanced: there is no cache of responses'],
  'grpc-web': ['missing', 'grpc-web'],
  'response-ratelimiting': ['missing', 'response-ratelimiting'],
  'rate-limiting-advanced': [
    'missing',
    'rate-limiting-advanced: its windows slide; see rate_limit',
  ],
  ...Object.fromEntries(
    ['file', 'http', 'tcp', 'udp', 'syslog', 'kafka', 'loggly', 'datadog', 'statsd'].map((one) => {
      const name = /datadog|statsd|loggly/.test(one) ? one : `${one}-log`;
      return [
        name,
        ['missing', `${name}: records and the log of the data planes are always on`] as const,
      ];
    }),
  ),
};

/** Plugins that answer, send elsewhere or change the path, so that a route without them does something else. */
const ESSENTIAL =
  /^(aws-lambda|azure-functions|forward-proxy|mocking|ai-.*|grpc-gateway|route-transformer-advanced|route-by-header|degraphql|kafka-upstream|upstream-timeout)$/;

/** Sets what the plugins of a route do. One that is unknown may guard the route, so the route is not open without it. */
export function applyPlugins(
  conversion: Conversion,
  route: RouteDraft,
  plugins: readonly KongPlugin[],
): void {
  route.fields.set('rate_limit', { limit: 1_000_000_000 });
  route.fields.set('max_body_bytes', MAX_BODY_BYTES);
  route.fields.set('idempotency', { mode: 'off' });
  for (const plugin of plugins) {
    const { name, node, config } = plugin;
    const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
    const without = Object.hasOwn(WITHOUT_FIELD, name) ? WITHOUT_FIELD[name] : undefined;
    try {
      if (handler !== undefined) handler(route, plugin);
      else if (without !== undefined)
        conversion.repeated(without[0], node.place, `plugin ${without[1]}`);
      else if (ESSENTIAL.test(name)) {
        route.access = 'guarded';
        route.leftOut ??= `the plugin ${name} has no equivalent, and the route would do something else without it`;
      } else guard(route, plugin);
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      route.missing(error.place, `plugin ${name}: ${error.message}`);
      guard(route, plugin);
    }
    if (handler === undefined) continue;
    node.ignore('name', 'config', 'enabled', 'id', 'created_at', 'updated_at', 'service', 'route');
    for (const field of [...node.unread(), ...(config?.unread() ?? [])]) {
      if (field.name === 'tags') conversion.repeated('missing', field.place, 'tags');
      else if (!isEmpty(field.value))
        route.missing(field.place, `${field.name} of the plugin ${name}`);
    }
  }
}

function isEmpty(value: unknown): boolean {
  return (
    value === false ||
    value === '' ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}

const REASONS: Readonly<Record<string, string>> = {
  jwt: 'set auth.type to jwt with issuer, audience and jwks_url; keys and secrets in the file cannot be taken over',
  'openid-connect':
    'set auth.type to jwt with issuer, audience and jwks_url; sessions and redirects to a login have no equivalent',
  'basic-auth': 'callers send a token of the gateway as the password',
  acl: 'give tokens the routes that they may call',
  'ip-restriction': 'there is no list of addresses',
};

function guard(route: RouteDraft, { name, node }: KongPlugin): void {
  const reason = REASONS[name] ?? 'it has no equivalent and may guard the route';
  route.missing(
    node.place,
    `plugin ${name}: ${reason}. Callers need a token of the gateway`,
    'auth',
  );
  if (route.access === 'open') route.access = 'guarded';
}

function keyAuth(route: RouteDraft, plugin: KongPlugin): void {
  const { node, config } = plugin;
  config?.ignore(
    'hide_credentials',
    'run_on_preflight',
    'realm',
    'key_in_header',
    'key_in_query',
    'key_in_body',
  );
  const names = config?.texts('key_names') ?? ['apikey'];
  if (config?.text('anonymous') !== undefined) {
    guard(route, plugin);
    return;
  }
  route.access = 'api_key';
  const isSame = names.length === 1 && names[0]?.toLowerCase() === 'x-api-key';
  const text = isSame
    ? 'upstreams never get it, and it is not read from the query or the body'
    : `it is read from X-API-Key, not from ${names.join(', ')}`;
  route.different(
    node.place,
    `plugin key-auth: the key is the secret of a token of the gateway; ${text}`,
    'auth',
  );
}

const WINDOWS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;
const PER: Readonly<Record<string, string>> = {
  consumer: 'token',
  credential: 'token',
  ip: 'ip',
  service: 'route',
};

function rateLimiting(route: RouteDraft, { node, config }: KongPlugin): void {
  config?.ignore(
    'policy',
    'sync_rate',
    'fault_tolerant',
    'error_code',
    'error_message',
    'hide_client_headers',
  );
  config?.ignore(...Object.keys(config.value ?? {}).filter((name) => name.startsWith('redis')));
  const limits = Object.entries(WINDOWS).flatMap(([name, seconds]) => {
    const limit = config?.number(name);
    return limit === undefined || limit < 1 ? [] : [{ name, seconds, limit }];
  });
  const by = config?.text('limit_by') ?? 'consumer';
  const per = Object.hasOwn(PER, by) ? PER[by] : undefined;
  const [first, ...others] = limits;
  if (first === undefined || per === undefined) {
    const text = per === undefined ? `limit_by ${by}` : 'windows of months and years';
    route.missing(node.place, `plugin rate-limiting: there is no ${text}`, 'rate_limit');
    return;
  }
  route.fields.set('rate_limit', {
    limit: within(first.limit, 1, 1_000_000_000),
    window_seconds: first.seconds,
    per,
  });
  for (const { name, limit } of others) {
    route.missing(
      node.place,
      `plugin rate-limiting: ${limit} per ${name}; a route has one window`,
      'rate_limit',
    );
  }
  if (by === 'service') {
    route.different(
      node.place,
      'plugin rate-limiting: counted for the route, not for all routes of the service',
      'rate_limit',
    );
  }
}

const UNITS: Readonly<Record<string, number>> = {
  megabytes: 2 ** 20,
  kilobytes: 2 ** 10,
  bytes: 1,
};
const DEFAULT_PAYLOAD_SIZE = 128;

function sizeLimiting(route: RouteDraft, { config }: KongPlugin): void {
  config?.ignore('require_content_length');
  const size = config?.number('allowed_payload_size') ?? DEFAULT_PAYLOAD_SIZE;
  const unit = UNITS[config?.text('size_unit') ?? 'megabytes'] ?? 1;
  route.fields.set('max_body_bytes', within(size * unit, 0, MAX_BODY_BYTES));
}
