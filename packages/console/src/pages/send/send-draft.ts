import type { RequestRecord, Route } from '../../api/client.ts';

/** How a request is authenticated: with a token of ten minutes, a pasted one, or not at all. */
export type SendToken = 'minted' | 'given' | 'none';

/** What is typed before it is sent. */
export interface SendDraft {
  readonly method: string;
  /** After `/v1/proxy/{route}`, with the query. */
  readonly target: string;
  /** Empty: that of the data planes. */
  readonly host: string;
  /** `Name: value`, one in each line. */
  readonly headers: string;
  readonly body: string;
  readonly token: SendToken;
}

/** The parts of a route that a request through it depends on. */
export type SentRoute = Pick<Route, 'id' | 'name' | 'environment' | 'auth' | 'match' | 'methods'>;

/** Methods that change nothing (RFC 9110 section 9.2.1). Others are sent only after a question. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/** What the form begins with: what the record of a request knows, or a GET that the route would let in. */
export function firstDraft(
  { name, auth }: Pick<Route, 'name' | 'auth'>,
  record?: Pick<RequestRecord, 'method' | 'path'>,
): SendDraft {
  return {
    method: record?.method ?? 'GET',
    target: record === undefined ? '' : targetBelow(name, record.path),
    host: '',
    headers: '',
    body: '',
    token: auth.type === 'none' ? 'none' : auth.type === 'jwt' ? 'given' : 'minted',
  };
}

/** The path after the name of the route. One by which a host led to the route is whole. */
export function targetBelow(name: string, path: string): string {
  const named = `/v1/proxy/${name}`;
  if (path === named) return '';
  return path.startsWith(`${named}/`) ? path.slice(named.length) : path;
}

/** The hosts by which requests reach the route, without wildcards. */
export function hostsOf({ match }: Pick<Route, 'match'>): readonly string[] {
  const hosts = match.flatMap((one) => one.hosts);
  return [...new Set(hosts)].filter((host) => !host.startsWith('*'));
}

/** The headers of lines such as `Name: value`. A line without a colon is a name that the control plane refuses. */
export function headersOf(text: string): [name: string, value: string][] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf(':');
      if (at < 0) return [`${line.trim()} `, ''];
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
}

/** The path and the query of a target such as `/17?full=1`. The slash may be left out. */
export function targetParts(target: string): { readonly path: string; readonly query: string } {
  const [path = '', ...query] = target.split('?');
  const isRelative = path !== '' && !path.startsWith('/');
  return { path: isRelative ? `/${path}` : path, query: query.join('?') };
}

/** The text as JSON with indents; undefined: it is none. */
export function formattedJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

/** The headers as they are sent: a body that is JSON says so, unless the sender says otherwise. */
export function sentHeaders({ headers, body }: SendDraft): [name: string, value: string][] {
  const given = headersOf(headers);
  const isNamed = given.some(([name]) => name.toLowerCase() === 'content-type');
  if (isNamed || body.trim() === '' || formattedJson(body) === undefined) return given;
  return [...given, ['Content-Type', 'application/json']];
}

/** The longest body that can be explained. It only decides about idempotency keys. */
const MAX_EXPLAINED_CHARS = 64 * 1024;
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

/**
 * The same request as a question what would happen to it.
 *
 * @param tokenId the token that it had; null: none of the gateway's
 */
export function explainedRequest(
  draft: SendDraft,
  tokenId: string | null,
): Readonly<Record<string, unknown>> {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of sentHeaders(draft)) (headers[name] ??= []).push(value);
  if (draft.host !== '') headers['Host'] = [draft.host];
  const hasCredential = Object.keys(headers).some((name) => CREDENTIALS.has(name.toLowerCase()));
  return {
    method: draft.method,
    ...targetParts(draft.target),
    headers,
    ...(draft.body === '' || draft.body.length > MAX_EXPLAINED_CHARS ? {} : { body: draft.body }),
    ...(tokenId === null ? {} : { token_id: tokenId }),
    ...(tokenId === null && !hasCredential ? { anonymous: true } : {}),
  };
}
