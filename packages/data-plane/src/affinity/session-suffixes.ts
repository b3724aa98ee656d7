import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { deriveKey, type MasterKey } from '@gateway/shared/config/master-keys';
import type { CompiledService, CompiledUpstream } from '../routing-table/routing-table.ts';

const PURPOSE = 'session-suffixes';
/** Allowed in a cookie (RFC 6265 section 4.1.1) and in a session id of MCP, and in no base64url. */
const MARK = '~gw';
/** In base64url: 3, 9 and 16 bytes. */
const KEY_CHARS = 4;
const UPSTREAM_CHARS = 12;
const TAG_CHARS = 22;
const SUFFIX_LENGTH = MARK.length + KEY_CHARS + UPSTREAM_CHARS + TAG_CHARS;
const SUFFIX = new RegExp(`^${MARK}[A-Za-z0-9_-]{${SUFFIX_LENGTH - MARK.length}}$`);

/** What the id of a session says that a caller sends. */
export type ReadSession =
  /** It has no suffix: the gateway did not give it out. */
  | { readonly kind: 'unsigned' }
  /** None of the services has the upstream, or its master key is not listed any more. */
  | { readonly kind: 'gone' }
  /** It is not as the gateway gave it out. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'known'; readonly id: string; readonly upstream: CompiledUpstream };

/** One of the keys, which are derived from the master keys. */
interface SuffixKey {
  readonly key: KeyObject;
  /** Names the key in a suffix. */
  readonly name: string;
  /** By what names them in a suffix. A service is kept as long as its configuration does not change. */
  readonly upstreams: WeakMap<CompiledService, ReadonlyMap<string, CompiledUpstream>>;
}

/**
 * The suffix that the gateway adds to the id of a session for the caller. It names the upstream that has the session, and
 * an HMAC binds it to the id, the service and the upstream, so that it can neither be made nor be moved to another
 * service, and so to another environment. It has 41 characters and tells nothing about the upstream.
 *
 * The newest master key signs; the suffixes of all that are listed are valid.
 */
export class SessionSuffixes {
  readonly #keys: readonly SuffixKey[];

  constructor(masterKeys: readonly MasterKey[]) {
    this.#keys = masterKeys.map((masterKey) => {
      const key = createSecretKey(deriveKey(masterKey, PURPOSE));
      const name = digest(key, ['key']).slice(0, KEY_CHARS);
      return { key, name, upstreams: new WeakMap() };
    });
  }

  /** The id of a session of this upstream, as the caller gets it. */
  signed(id: string, upstream: CompiledUpstream): string {
    const [newest] = this.#keys;
    if (newest === undefined) throw new Error('there is no master key');
    return id + MARK + newest.name + nameOf(newest, upstream) + tagOf(newest, upstream, id);
  }

  /** @param services those to which the request may go */
  read(sent: string, services: readonly CompiledService[]): ReadSession {
    const end = sent.length - SUFFIX_LENGTH;
    if (!this.isSigned(sent)) return { kind: 'unsigned' };
    const name = sent.slice(end + MARK.length);
    const key = this.#keys.find((one) => name.startsWith(one.name));
    if (key === undefined) return { kind: 'gone' };
    const upstreamName = name.slice(KEY_CHARS, KEY_CHARS + UPSTREAM_CHARS);
    const upstream = findUpstream(key, upstreamName, services);
    if (upstream === undefined) return { kind: 'gone' };
    const id = sent.slice(0, end);
    const tag = Buffer.from(name.slice(KEY_CHARS + UPSTREAM_CHARS));
    const isOurs = timingSafeEqual(tag, Buffer.from(tagOf(key, upstream, id)));
    return isOurs ? { kind: 'known', id, upstream } : { kind: 'changed' };
  }

  /** Whether it looks like an id that the gateway gave out. */
  isSigned(sent: string): boolean {
    return sent.length > SUFFIX_LENGTH && SUFFIX.test(sent.slice(-SUFFIX_LENGTH));
  }
}

function findUpstream(
  key: SuffixKey,
  name: string,
  services: readonly CompiledService[],
): CompiledUpstream | undefined {
  for (const service of services) {
    let named = key.upstreams.get(service);
    if (named === undefined) {
      named = new Map(service.upstreams.map((upstream) => [nameOf(key, upstream), upstream]));
      key.upstreams.set(service, named);
    }
    const found = named.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf({ key }: SuffixKey, { serviceId, id }: CompiledUpstream): string {
  return digest(key, ['upstream', serviceId, id]).slice(0, UPSTREAM_CHARS);
}

function tagOf({ key }: SuffixKey, { serviceId, id }: CompiledUpstream, session: string): string {
  return digest(key, ['session', serviceId, id, session]).slice(0, TAG_CHARS);
}

/** The last part alone may contain a NUL, so that no two lists give the same text. */
function digest(key: KeyObject, parts: readonly string[]): string {
  return createHmac('sha256', key).update(parts.join('\0'), 'utf8').digest('base64url');
}
