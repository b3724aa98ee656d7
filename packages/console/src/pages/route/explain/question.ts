import type { Caller, Route } from '../../../api/client.ts';
import type { Draft } from '../../../ui/form/draft.ts';
import { fieldLabel } from '../../../ui/form/field-labels.ts';

/** A question as the form knows it, with nothing typed. */
export const NEW_QUESTION: Draft = {
  method: 'GET',
  host: '',
  target: '',
  headers: '',
  body: '',
  caller: 'headers',
  token_id: null,
  client_ip: '',
  data_plane: '',
};

/** What the form begins with: a caller that the route would let in, if the reader's own token can be that. */
export function firstQuestion({ auth }: Pick<Route, 'auth'>, reader: Caller | undefined): Draft {
  if (auth.type === 'none') return { ...NEW_QUESTION, caller: 'anonymous' };
  if (auth.type === 'jwt' || reader === undefined) return NEW_QUESTION;
  return { ...NEW_QUESTION, caller: 'token', token_id: reader.id };
}

/** What was typed, as the body of the call. What is empty is left out. */
export function questionOf(draft: Draft): Record<string, unknown> {
  const { method, host, target, headers, body, caller, token_id, client_ip, data_plane } = draft;
  return {
    method,
    ...(host === '' ? {} : { host }),
    ...targetOf(String(target)),
    headers: headersOf(String(headers)),
    ...(body === '' ? {} : { body }),
    ...(caller === 'anonymous' ? { anonymous: true } : {}),
    // Without a choice the API says what it expects.
    ...(caller === 'token' ? { token_id: token_id ?? '' } : {}),
    ...(client_ip === '' ? {} : { client_ip }),
    ...(data_plane === '' ? {} : { data_plane }),
  };
}

const LABELS: ReadonlyMap<string, string> = new Map([
  ['path', 'Path and query'],
  ['query', 'Path and query'],
  ['client_ip', 'Client address'],
  ['anonymous', 'Caller'],
  ['token_id', 'Token'],
]);

/** What the form calls the field at a path of the body: `Headers` for `headers.x-bad`. */
export function questionLabel(path: string): string {
  const [name = path] = path.split('.');
  return LABELS.get(name) ?? fieldLabel(name);
}

/** The path and the query of a target such as `/17?full=1`. */
function targetOf(target: string): { readonly path: string; readonly query?: string } {
  const at = target.indexOf('?');
  return at < 0 ? { path: target } : { path: target.slice(0, at), query: target.slice(at + 1) };
}

/** The headers of lines such as `Name: value`. A line without a colon is a name that the API refuses. */
function headersOf(text: string): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf(':');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    const value = at < 0 ? '' : line.slice(at + 1).trim();
    headers.set(at < 0 ? `${name} ` : name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(headers);
}
