import { refuseUpstreamUrl, type AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';

const MAX_URL_CHARS = 2048;

/** The URL of an upstream; `deny` says where none may be. */
export function urlField(deny: AddressRanges) {
  return checkedUrl((text) => refuseUpstreamUrl(text, deny));
}

/** A URL that the gateway itself reads: where an upstream may be, and with a query where need be. */
export function sourceUrlField(deny: AddressRanges) {
  return checkedUrl((text) => refuseUpstreamUrl(text.replace(/\?[^#]*/, ''), deny));
}

function checkedUrl(refuse: (text: string) => string | undefined) {
  return z
    .string({ error: 'must be a text' })
    .max(MAX_URL_CHARS, { error: `must be at most ${MAX_URL_CHARS} characters` })
    .superRefine((text, context) => {
      // URL parsing drops spaces and control characters in silence, and mends half a surrogate pair,
      // which is no text to Postgres.
      const reason = /[ \p{Cc}\p{Cs}\\]/u.test(text)
        ? 'must not hold spaces, control characters, half a surrogate pair or \\'
        : refuse(text);
      if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
    });
}
