import { z } from 'zod';

/** One Postgres server, or a pooler in front of one. */
export interface PostgresServer {
  /** `host:port`, for messages. */
  readonly name: string;
  /** For the driver, which knows only URLs of one host. */
  readonly url: string;
}

/** What a database URL names. */
export interface DatabaseAddress {
  /** In the order of the URL; at least one. */
  readonly servers: readonly PostgresServer[];
  /** Whether a server that accepts no writes, such as a standby, is passed over. */
  readonly mustAcceptWrites: boolean;
}

const DEFAULT_PORT = '5432';
const NOT_A_URL = 'must be a URL postgres://…';
/** Scheme, user and password, hosts, and the rest. The password may contain an @, as the driver allows. */
const URL_PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^#]*)$/;
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const ATTRIBUTES = 'target_session_attrs';
/** Of libpq's values those that a process can use that writes. */
const WRITES: ReadonlyMap<string, boolean> = new Map([
  ['read-write', true],
  ['primary', true],
  ['any', false],
]);

/**
 * Parses a database URL as libpq does: `postgres://user:password@host1:5432,host2:5432/name?target_session_attrs=read-write`.
 * With several hosts `read-write` is the default, because a standby is of no use here.
 *
 * @throws Error without any of the text, which may contain a password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const [, scheme = '', user = '', hosts = '', rest = ''] = URL_PARTS.exec(text) ?? [];
  if (scheme === '') throw new Error(NOT_A_URL);
  const [path = '', ...questions] = rest.split('?');
  const question = questions.join('?');
  const options = question.split('&');
  const query = new URLSearchParams(question);
  const mustAcceptWrites = writesOf(query, hosts.includes(','));
  const otherHost = query.get('host') ?? '';
  // The driver prefers the host of the query.
  if (otherHost.includes(',') || (otherHost !== '' && hosts !== ''))
    throw new Error('must name hosts before the path, not in ?host=');
  const kept = options.filter((option) => !option.startsWith(`${ATTRIBUTES}=`)).join('&');
  const tail = kept === '' ? path : `${path}?${kept}`;
  const servers = hosts.split(',').map((host) => {
    const url = `${scheme}${user}${host}${tail}`;
    // The driver accepts URLs without a host, whose server is in the query or on this machine.
    if (hosts === '') return { name: query.get('host') ?? 'localhost', url };
    const [, name, port = DEFAULT_PORT] = HOST.exec(host) ?? [];
    if (name === undefined || !URL.canParse(url)) throw new Error(NOT_A_URL);
    return { name: `${name}:${port}`, url };
  });
  return { servers, mustAcceptWrites };
}

function writesOf(query: URLSearchParams, isDefault: boolean): boolean {
  const given = query.get(ATTRIBUTES);
  if (given === null) return isDefault;
  const writes = WRITES.get(given);
  if (writes === undefined)
    throw new Error(`must have ${[...WRITES.keys()].join(', ')} as ${ATTRIBUTES}`);
  return writes;
}

/** `DATABASE_URL`: see `parseDatabaseUrl`. */
export const databaseUrlVariable = z.string().superRefine((text, context) => {
  try {
    parseDatabaseUrl(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' });
  }
});
