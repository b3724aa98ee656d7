import type { Draft } from '../../../ui/form/draft.ts';

/** The input of explain that stands in the URL. Header fields and bodies do not, because they may have secrets. */
export interface ExplainSearch {
  readonly method?: string;
  readonly host?: string;
  /** The path and the query. */
  readonly target?: string;
  readonly caller?: 'headers' | 'token' | 'anonymous';
  readonly token_id?: string;
  readonly client_ip?: string;
  readonly data_plane?: string;
}

const TEXTS = ['method', 'host', 'target', 'token_id', 'client_ip', 'data_plane'] as const;
const CALLERS = ['headers', 'token', 'anonymous'] as const;

/** Reads it from a URL, or from what was typed. */
export function explainSearch(given: Readonly<Record<string, unknown>>): ExplainSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = given[name];
    // The router reads `target=17` as a number.
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && text !== '' ? [[name, text] as const] : [];
  });
  const caller = CALLERS.find((one) => one === given['caller']);
  return { ...Object.fromEntries(texts), ...(caller === undefined ? {} : { caller }) };
}

/** What the form begins with: what the URL says, and for the rest the usual question. */
export function askedDraft(usual: Draft, search: ExplainSearch): Draft {
  return { ...usual, ...search };
}
