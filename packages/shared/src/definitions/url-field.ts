import { refuseUpstreamUrl, type AddressRanges } from '../net/upstream-addresses.ts';
import { z } from 'zod';

const MAX_URL_CHARS = 2048;

/** The URL of an upstream; addresses in `deny` are refused. */
export function urlField(deny: AddressRanges) {
  return checkedUrl((text) => refuseUpstreamUrl(text, deny));
}

/** A URL that the gateway itself fetches: the same rules as for an upstream, but it may have a query. */
export function sourceUrlField(deny: AddressRanges) {
  return checkedUrl((text) => refuseUpstreamUrl(text.replace(/\?[^#]*/, ''), deny));
}

function checkedUrl(refuse: (text: string) => string | undefined) {
  return z
    .string({ error: 'must be a string' })
    .max(MAX_URL_CHARS, { error: `must be at most ${MAX_URL_CHARS} characters` })
    .superRefine((text, context) => {
      // URL parsing silently drops spaces and control characters and replaces a lone surrogate, which
      // Postgres cannot store.
      const reason = /[ \p{Cc}\p{Cs}\\]/u.test(text)
        ? 'must not contain spaces, control characters, lone surrogates or \\'
        : refuse(text);
      if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
    });
}
