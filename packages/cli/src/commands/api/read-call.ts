import { readBody } from '../../input/read-body.ts';
import { setFields } from '../../input/set-fields.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface CallOptions {
  readonly field?: readonly string[];
  readonly input?: string;
  readonly header?: readonly string[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

/** A call of the API as the command line has it. */
export interface ApiCall {
  readonly method: Method;
  /** Begins with a slash: the token goes to no other host than that of the context. */
  readonly path: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** @throws UsageError if the arguments are no call */
export async function readCall(
  first: string,
  second: string | undefined,
  { field = [], input, header = [] }: CallOptions,
  terminal: Terminal,
): Promise<ApiCall> {
  const hasBody = input !== undefined;
  const given = second === undefined ? undefined : methodOf(first);
  // Fields alone are a query: a forgotten method never makes a change.
  const method = given ?? (hasBody ? 'post' : 'get');
  const { path, query } = targetOf(second ?? first);
  const headers = headersOf(header);
  if (method === 'get') {
    if (hasBody) throw new UsageError('a GET has no body; leave --input out');
    for (const one of field) addQuery(query, one);
    return { method, path, query, headers, body: undefined };
  }
  const fromFile = input === undefined ? {} : await readBody(input, terminal);
  const body = { ...fromFile, ...(await setFields(fromFile, field, { option: '-f' })) };
  const isEmpty = !hasBody && field.length === 0;
  return { method, path, query, headers, body: isEmpty ? bodyWithoutFields(method) : body };
}

function methodOf(text: string): Method {
  const method = METHODS.find((one) => one === text.toLowerCase());
  if (method !== undefined) return method;
  throw new UsageError(`${text} is no method; the API has ${METHODS.join(', ').toUpperCase()}`);
}

/** A POST has a body, even if all of its fields are optional. */
const bodyWithoutFields = (method: Method): unknown => (method === 'post' ? {} : undefined);

function targetOf(text: string): { path: string; query: Record<string, string[]> } {
  if (/^[a-z]+:\/\//i.test(text)) {
    throw new UsageError('give a path such as /v1/routes; the URL is that of the context');
  }
  const [before = '', ...rest] = text.split('?');
  const trimmed = before.replace(/^\/+/, '');
  if (trimmed === '') throw new UsageError('give a path such as /v1/routes');
  const path =
    before.startsWith('/') || /^v1(\/|$)/.test(trimmed) ? `/${trimmed}` : `/v1/${trimmed}`;
  if (/[{}\s\\]|(^|\/)\.\.?(\/|$)/.test(path))
    throw new UsageError(`${text} is no path of the API`);
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(rest.join('?'))) {
    query[name] = [...(query[name] ?? []), value];
  }
  return { path, query };
}

function addQuery(query: Record<string, string[]>, field: string): void {
  const at = field.indexOf('=');
  if (at < 1) throw new UsageError('-f must be NAME=VALUE, such as environment=production');
  const name = field.slice(0, at);
  query[name] = [...(query[name] ?? []), field.slice(at + 1)];
}

function headersOf(given: readonly string[]): Record<string, string> {
  const headers = given.map((one): [string, string] => {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*)$/.exec(one) ?? [];
    if (name === '') throw new UsageError("-H must be 'Name: value'");
    if (name.toLowerCase() === 'authorization' || one.includes('gwt_')) {
      throw new UsageError('-H cannot have a secret; the token is that of the context');
    }
    return [name, value];
  });
  return Object.fromEntries(headers);
}
