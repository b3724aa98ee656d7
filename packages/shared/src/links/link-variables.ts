import { z } from 'zod';
import { LINK_PLACEHOLDERS, placeholdersOf, type LinkPlaceholder } from './link-template.ts';

/* Settings that are addresses for people. Every token sees them, so they must not contain a secret. */

const MAX_CHARS = 2048;
const NAMES: ReadonlySet<string> = new Set(LINK_PLACEHOLDERS);

/** The address of a web page of another tool, or of the gateway, without a slash at its end. */
export const pageUrlVariable = z
  .string()
  .superRefine((text, context) => {
    const fault =
      addressFault(text) ??
      (/[?#{}]/.test(text) ? 'must have no query, fragment or placeholder' : undefined);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .transform((text) => text.replace(/\/+$/, ''));

/** An address with placeholders, of which it must have one of these. */
export function linkTemplateVariable(needed: readonly LinkPlaceholder[]) {
  return z.string().superRefine((text, context) => {
    const fault = templateFault(text, needed);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });
}

function templateFault(text: string, needed: readonly LinkPlaceholder[]): string | undefined {
  const names = placeholdersOf(text);
  const unknown = names.filter((name) => !NAMES.has(name));
  if (unknown.length > 0) {
    const all = LINK_PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
    return `must have no other placeholders than ${all}; write other braces as %7B and %7D`;
  }
  if (!needed.some((name) => names.includes(name))) {
    return `must contain ${needed.map((name) => `{${name}}`).join(' or ')}`;
  }
  return addressFault(text);
}

/** The server must be written out: a value of a request must not decide where a link leads. */
function addressFault(text: string): string | undefined {
  if (text.length > MAX_CHARS) return `must be at most ${MAX_CHARS} characters`;
  if (!/^https?:\/\/[^/?#{}@\s]+(?:[/?#]|$)/i.test(text)) {
    return 'must begin with http:// or https:// and a host, without a placeholder, user or password in it';
  }
  if (/[\s\p{Cc}<>"`\\^|]/u.test(text) || /[{}]/.test(text.replaceAll(/\{\w+\}/g, ''))) {
    return 'must be a URL, with other characters percent-encoded';
  }
  return URL.canParse(text.replaceAll(/\{\w+\}/g, 'x')) ? undefined : 'must be a URL';
}
