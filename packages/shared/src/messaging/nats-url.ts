import { z } from 'zod';

/** Options of the NATS client, which itself reads only host and port from a URL. */
export interface NatsServers {
  /** Each `host:port`. */
  readonly servers: readonly string[];
  /** If present, the client requires TLS before it sends anything, the password included. */
  readonly tls?: object;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

const DEFAULT_PORT = '4222';

/**
 * Parses `NATS_URL`: one or more comma-separated servers, with `nats://` or, for TLS, `tls://`. User and password, or a
 * token, stand before the host of one of them or of each.
 *
 * @throws Error without any of the text, which may contain a password
 */
export function parseNatsUrl(text: string): NatsServers {
  const urls = text.split(',').map((part) => parseServer(part.trim()));
  const schemes = new Set(urls.map((url) => url.protocol));
  if (schemes.size > 1) throw new Error('must be tls:// for all servers or for none');
  const credentials = new Set(urls.map(userInfoOf).filter((userInfo) => userInfo !== ''));
  if (credentials.size > 1) throw new Error('must not contain two different users');
  const servers = urls.map(({ hostname, port }) => `${hostname}:${port || DEFAULT_PORT}`);
  const [userInfo] = credentials;
  return {
    servers,
    ...(schemes.has('tls:') && { tls: {} }),
    ...(userInfo !== undefined && credentialsOf(userInfo)),
  };
}

function parseServer(part: string): URL {
  const text = part.includes('://') ? part : `nats://${part}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isServer =
    (url?.protocol === 'nats:' || url?.protocol === 'tls:') &&
    url.hostname !== '' &&
    ['', '/'].includes(url.pathname) &&
    url.search === '' &&
    url.hash === '';
  if (!isServer)
    throw new Error('must be a comma-separated list of nats://host:port or tls://host:port');
  return url;
}

function userInfoOf({ username, password }: URL): string {
  return password === '' ? username : `${username}:${password}`;
}

function credentialsOf(userInfo: string): Pick<NatsServers, 'user' | 'pass' | 'token'> {
  const [first = '', password] = userInfo.split(':').map(decoded);
  return password === undefined ? { token: first } : { user: first, pass: password };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The original error contains the text.
    throw new Error('must have user and password percent-encoded');
  }
}

/** `NATS_URL`: see `parseNatsUrl`. */
export const natsUrlVariable = z.string().superRefine((text, context) => {
  try {
    parseNatsUrl(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' });
  }
});
