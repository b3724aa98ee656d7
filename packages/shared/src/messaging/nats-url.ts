import { z } from 'zod';

/** How to get to NATS, in the terms of its client, which reads no more than host and port off a URL. */
export interface NatsServers {
  /** `host:port` each. */
  readonly servers: readonly string[];
  /** Present: the servers must speak TLS, or nothing is told to them, the password least of all. */
  readonly tls?: object;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

const DEFAULT_PORT = '4222';

/**
 * Reads `NATS_URL`: one or more servers with commas between, `nats://` or, for TLS, `tls://`; user and
 * password, or a token alone, before the host of one of them or of each.
 *
 * @throws Error with what is wrong, and nothing of the text, as it may hold a password
 */
export function parseNatsUrl(text: string): NatsServers {
  const urls = text.split(',').map((part) => parseServer(part.trim()));
  const schemes = new Set(urls.map((url) => url.protocol));
  if (schemes.size > 1) throw new Error('must be tls:// for all servers or for none');
  const credentials = new Set(urls.map(userInfoOf).filter((userInfo) => userInfo !== ''));
  if (credentials.size > 1) throw new Error('must not name two users');
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
  if (!isServer) throw new Error('must be nats://host:port or tls://host:port, commas between');
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
    // Its message quotes the text.
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
