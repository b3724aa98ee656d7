import type { Answer } from '../../../harness/client.ts';
import type { Cell } from './reaches.ts';

/** Differ between answers to the same call. */
const OF_THE_CALL = /^(date|x-request-id|x-gateway-latency|x-ratelimit-.*|connection|keep-alive)$/;

/** The answer without what differs each time, and without the value that was sent. */
export function comparable({ status, headers, body }: Answer, value: string): string {
  const fields = [...headers].filter(([name]) => !OF_THE_CALL.test(name));
  const text = JSON.stringify([status, fields, body]);
  const id = headers.get('x-request-id') ?? '';
  return withoutWord(text.replaceAll(id, '<request id>'), value);
}

/** Without the whole word: it may be a part of the name of something that is out of reach. */
function withoutWord(text: string, word: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'g'), '<value>');
}

/** How an answer differs from what a cell demands, or undefined. */
export function faultOf(cell: Cell, answer: Answer): string | undefined {
  const { status, headers, body } = answer;
  const error = headers.get('x-gateway-error');
  const isRight =
    cell === 'x'
      ? status === 401 && error === 'authentication_failed'
      : cell === 'ok' || cell === '-'
        ? status < 300 && headers.get('idempotent-replayed') === null
        : status === Number(cell);
  return isRight ? undefined : `expected ${cell}, got ${status} ${body.slice(0, 300)}`;
}
