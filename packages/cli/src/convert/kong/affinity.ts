import type { RouteDraft } from '../draft.ts';
import { isFieldName, isRefusedField } from '../values.ts';
import type { KongUpstream } from './upstreams.ts';

/** consistent-hashing of an upstream. */
export function readHashing(route: RouteDraft, { node }: KongUpstream): void {
  const algorithm = node.text('algorithm') ?? 'round-robin';
  const by = node.text('hash_on') ?? 'none';
  node.ignore('hash_on_header', 'hash_on_cookie', 'hash_on_cookie_path');
  if (algorithm !== 'consistent-hashing' || by === 'none') return;
  const header = node.text('hash_on_header') ?? '';
  const cookie = node.text('hash_on_cookie') ?? '';
  const fallback = node.text('hash_fallback') ?? 'none';
  const named = {
    consumer: { by: 'token' },
    ip: { by: 'ip' },
    ...(isFieldName(header) && !isRefusedField(header) && { header: { by: 'header', header } }),
    ...(isFieldName(cookie) && !/^__/.test(cookie) && { cookie: { by: 'gateway_cookie', cookie } }),
  };
  const value = Object.hasOwn(named, by) ? named[by as keyof typeof named] : undefined;
  if (value === undefined || fallback !== 'none') {
    const text = `hash_on ${by}${fallback === 'none' ? '' : ` with hash_fallback ${fallback}`}`;
    route.missing(node.place, text, 'affinity');
    return;
  }
  route.fields.set('affinity', { ...value, retry_elsewhere: true });
}
