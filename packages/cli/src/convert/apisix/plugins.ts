import type { Conversion, RouteDraft } from '../draft.ts';
import { WrongType } from '../source-node.ts';
import { MAX_BODY_BYTES, within } from '../values.ts';
import { readCors } from './cors.ts';
import { readMirror, readRedirect } from './destinations.ts';
import type { ApisixPlugin } from './plugin.ts';
import { rewriteRequest, rewriteResponse } from './rewrites.ts';

type Handler = (route: RouteDraft, plugin: ApisixPlugin, conversion: Conversion) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  cors: readCors,
  'key-auth': keyAuth,
  'proxy-mirror': readMirror,
  redirect: readRedirect,
  'limit-count': limitCount,
  'client-control': clientControl,
  'proxy-rewrite': rewriteRequest,
  'response-rewrite': rewriteResponse,
};

const NO_LIMIT = 'see rate_limit and the limits of a service';
const TELEMETRY = 'set OTEL_… of the data planes';

/** Plugins that guard nothing, with what stands for them here. */
const WITHOUT_FIELD: Readonly<Record<string, readonly ['missing' | 'note', string]>> = {
  prometheus: ['note', '/metrics of every process is always on'],
  'request-id': ['note', 'every request has X-Request-Id, in the answer too'],
  'real-ip': ['missing', 'see TRUSTED_PROXIES of the data planes'],
  opentelemetry: ['missing', TELEMETRY],
  zipkin: ['missing', TELEMETRY],
  skywalking: ['missing', TELEMETRY],
  'proxy-cache': ['missing', 'there is no cache of responses'],
  gzip: ['missing', 'the gateway does not compress'],
  brotli: ['missing', 'the gateway does not compress'],
  'limit-req': ['missing', NO_LIMIT],
  'limit-conn': ['missing', NO_LIMIT],
  'api-breaker': ['missing', 'ejection of upstreams is always on'],
  'proxy-control': ['missing', 'bodies are streamed'],
  'server-info': ['note', 'GET /v1/data-planes shows them'],
  echo: ['missing', ''],
};

const LOGGER = /logger$|^(datadog|log-rotate|skywalking-logger)$/;
/** Plugins that answer, send elsewhere or change the path, so that a route without them does something else. */
const ESSENTIAL =
  /^(mocking|fault-injection|traffic-split|degraphql|grpc-transcode|grpc-web|kafka-proxy|dubbo-proxy|http-dubbo|mqtt-proxy|aws-lambda|azure-functions|openwhisk|openfunction|public-api|batch-requests|inspect|node-status|ai-.*)$/;

/** Sets what the plugins of a route do. One that is unknown may guard the route, so the route is not open without it. */
export function applyPlugins(
  conversion: Conversion,
  route: RouteDraft,
  plugins: readonly ApisixPlugin[],
): void {
  route.fields.set('rate_limit', { limit: 1_000_000_000 });
  route.fields.set('max_body_bytes', MAX_BODY_BYTES);
  route.fields.set('idempotency', { mode: 'off' });
  const done = new Set<string>();
  for (const plugin of plugins) {
    const { name, node } = plugin;
    const meta = node.get('_meta');
    if (meta?.value !== undefined && meta.flag('disable') === true) continue;
    if (node.get('disable')?.value === true) continue;
    if (done.has(name))
      route.missing(node.place, `plugin ${name}: it is a global rule and one of the route`);
    done.add(name);
    applyOne(conversion, route, plugin, meta?.has('filter') === true);
  }
}

function applyOne(
  conversion: Conversion,
  route: RouteDraft,
  plugin: ApisixPlugin,
  isConditional: boolean,
): void {
  const { name, node } = plugin;
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  const without = Object.hasOwn(WITHOUT_FIELD, name) ? WITHOUT_FIELD[name] : undefined;
  if (without !== undefined) {
    conversion.repeated(without[0], node.place, `plugin ${name}: ${without[1]}`);
  } else if (LOGGER.test(name)) {
    conversion.repeated('missing', node.place, `plugin ${name}: records and the log are always on`);
  } else if (ESSENTIAL.test(name)) {
    route.access = 'guarded';
    route.leftOut ??= `the plugin ${name} has no equivalent, and the route would do something else without it`;
  } else if (handler === undefined || isConditional) guard(route, plugin);
  else {
    try {
      handler(route, plugin, conversion);
      for (const field of node.unread()) {
        if (field.name !== '_meta')
          route.missing(field.place, `${field.name} of the plugin ${name}`);
      }
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      route.missing(error.place, `plugin ${name}: ${error.message}`);
      guard(route, plugin);
    }
  }
}

const LOGIN =
  'set auth.type to jwt with issuer, audience and jwks_url; keys and secrets in the file cannot be taken over';
const REASONS: Readonly<Record<string, string>> = {
  'jwt-auth': LOGIN,
  'openid-connect': LOGIN,
  'basic-auth': 'callers send a token of the gateway as the password',
  'consumer-restriction': 'give tokens the routes that they may call',
  'ip-restriction': 'there is no list of addresses',
};

function guard(route: RouteDraft, { name, node }: ApisixPlugin): void {
  const reason = Object.hasOwn(REASONS, name)
    ? REASONS[name]
    : 'it has no equivalent and may guard the route';
  route.missing(
    node.place,
    `plugin ${name}: ${reason}. Callers need a token of the gateway`,
    'auth',
  );
  if (route.access === 'open') route.access = 'guarded';
}

function keyAuth(route: RouteDraft, { node }: ApisixPlugin): void {
  node.ignore('hide_credentials', 'key', 'query', 'realm');
  const header = node.text('header') ?? 'apikey';
  route.access = 'api_key';
  const where =
    header.toLowerCase() === 'x-api-key' ? '' : `, and is read from X-API-Key, not from ${header}`;
  const text = `plugin key-auth: the key is the secret of a token of the gateway${where}; upstreams never get it, and it is not read from the query`;
  route.different(node.place, text, 'auth');
}

const PER: Readonly<Record<string, string>> = {
  remote_addr: 'ip',
  consumer_name: 'token',
};
const MAX_WINDOW_SECONDS = 86_400;

function limitCount(route: RouteDraft, { node }: ApisixPlugin): void {
  node.ignore(
    'policy',
    'rejected_code',
    'rejected_msg',
    'allow_degradation',
    'show_limit_quota_header',
    'sync_interval',
  );
  node.ignore(...Object.keys(node.value ?? {}).filter((name) => name.startsWith('redis_')));
  const count = node.number('count');
  const seconds = node.number('time_window');
  const type = node.text('key_type') ?? 'var';
  const key = node.text('key') ?? 'remote_addr';
  const ofKey = Object.hasOwn(PER, key) ? PER[key] : undefined;
  const per = type === 'constant' ? 'route' : type === 'var' ? ofKey : undefined;
  const isWindow = seconds !== undefined && seconds >= 1 && seconds <= MAX_WINDOW_SECONDS;
  if (count === undefined || count < 1 || !isWindow || per === undefined) {
    route.missing(node.place, 'plugin limit-count: there is no such key or window', 'rate_limit');
    return;
  }
  route.fields.set('rate_limit', {
    limit: within(count, 1, 1_000_000_000),
    window_seconds: Math.round(seconds),
    per,
  });
}

function clientControl(route: RouteDraft, { node }: ApisixPlugin): void {
  const bytes = node.number('max_body_size') ?? 0;
  route.fields.set(
    'max_body_bytes',
    bytes === 0 ? MAX_BODY_BYTES : within(bytes, 0, MAX_BODY_BYTES),
  );
}
