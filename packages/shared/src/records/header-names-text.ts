/**
 * The most common names of request fields, each with the upper-case letter at its place. Names are in lower case, so a
 * letter is never one. The list never changes: stored records are read with it.
 */
const COMMON = [
  'host',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'connection',
  'content-type',
  'content-length',
  'transfer-encoding',
  'cookie',
  'origin',
  'referer',
  'via',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-request-id',
  'x-api-key',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'cache-control',
  'x-gateway-environment',
  'x-gateway-version',
  'sec-fetch-mode',
] as const;

const FIRST_LETTER = 'A'.charCodeAt(0);
const LETTERS = new Map<string, string>(
  COMMON.map((name, index) => [name, String.fromCharCode(FIRST_LETTER + index)]),
);
const ONLY_LETTERS = /^[A-Z]+$/;

let lastNames: readonly string[] = [];
let lastText = '';

/**
 * Header names in lower case as one short text, in which common names are letters.
 *
 * @param names it is not changed afterwards: that of the last call is known by its identity
 */
export function headerNamesText(names: readonly string[]): string {
  if (names !== lastNames) {
    lastText = textOf(names);
    lastNames = names;
  }
  return lastText;
}

function textOf(names: readonly string[]): string {
  let text = '';
  let afterName = false;
  for (const name of names) {
    const letter = LETTERS.get(name);
    const separated = text !== '' && (letter === undefined || afterName);
    text += separated ? ` ${letter ?? name}` : (letter ?? name);
    afterName = letter === undefined;
  }
  return text;
}

/** The names of a text that `headerNamesText` made. */
export function headerNamesOf(text: string): string[] {
  if (text === '') return [];
  return text
    .split(' ')
    .flatMap((part) => (ONLY_LETTERS.test(part) ? part.split('').map(nameOf) : [part]));
}

function nameOf(letter: string): string {
  return COMMON[letter.charCodeAt(0) - FIRST_LETTER] ?? letter;
}
