import type { RouteDraft } from '../draft.ts';
import { MAX_BODY_BYTES, within } from '../values.ts';
import type { Directive } from './directives.ts';
import { sizeOf, type Scope } from './scope.ts';

const DEFAULT_BODY_BYTES = 1024 ** 2;

/** Sets the largest body, the quota and, because nginx has none, no idempotency keys. */
export function setLimits(route: RouteDraft, scope: Scope): void {
  const size = scope.setting('client_max_body_size');
  const bytes = size === undefined ? DEFAULT_BODY_BYTES : sizeOf(size.args[0] ?? '');
  if (bytes === undefined)
    route.missing(size?.place ?? route.place, 'client_max_body_size', 'max_body_bytes');
  else
    route.fields.set(
      'max_body_bytes',
      bytes === 0 ? MAX_BODY_BYTES : within(bytes, 0, MAX_BODY_BYTES),
    );
  route.fields.set('rate_limit', { limit: 1_000_000_000 });
  route.fields.set('idempotency', { mode: 'off' });
  for (const limit of scope.inherited('limit_req')) readLimit(route, scope, limit);
}

const PER: Readonly<Record<string, string>> = {
  $binary_remote_addr: 'ip',
  $remote_addr: 'ip',
  $server_name: 'route',
};

function readLimit(route: RouteDraft, scope: Scope, { args, place }: Directive): void {
  const parameter = (name: string, list: readonly string[]) =>
    list.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  const name = parameter('zone', args);
  const zones = scope.chain().flatMap((one) => one.own('limit_req_zone'));
  const zone = zones.find((one) => parameter('zone', one.args).split(':', 1)[0] === name);
  const [, count, unit] = /^(\d+)r\/([sm])$/.exec(parameter('rate', zone?.args ?? [])) ?? [];
  const key = zone?.args[0] ?? '';
  const per = Object.hasOwn(PER, key) ? PER[key] : undefined;
  const isSet =
    (route.fields.get('rate_limit') as { window_seconds?: number }).window_seconds !== undefined;
  if (count === undefined || Number(count) < 1 || per === undefined || isSet) {
    const text = isSet ? 'a route has one limit' : 'its zone has another key or rate';
    route.missing(place, `limit_req ${name}: ${text}`, 'rate_limit');
    return;
  }
  route.fields.set('rate_limit', {
    limit: within(Number(count), 1, 1_000_000_000),
    window_seconds: unit === 's' ? 1 : 60,
    per,
  });
  const text = `limit_req ${name}: nginx spreads requests evenly and lets a burst wait; here the first ${count} of each ${unit === 's' ? 'second' : 'minute'} go on and the others get 429, and the limit is that of this route`;
  route.different(place, text, 'rate_limit');
}
