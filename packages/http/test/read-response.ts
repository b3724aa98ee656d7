import { MessageReader } from '@gateway/http/message/message-reader';
import { ResponseSyntax, type ResponseHead } from '@gateway/http/message/response-head';

/** The result of reading a response. */
export interface ReadResponse {
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly fields: readonly string[];
  readonly body: string;
  readonly ended: boolean;
  readonly keepAlive: boolean | undefined;
}

/** Reads the pieces one by one, and then the end of the connection if `close` is set. */
export function readResponse(
  pieces: readonly string[],
  {
    method = 'GET',
    close = false,
    upgrade,
  }: { method?: string; close?: boolean; upgrade?: string } = {},
): ReadResponse {
  let status: number | undefined;
  let fields: readonly string[] = [];
  let body = '';
  let ended = false;
  let keepAlive: boolean | undefined;
  const syntax = new ResponseSyntax();
  const reader = new MessageReader<ResponseHead>(
    syntax,
    {
      head(head, last) {
        ({ status, fields, keepAlive } = head);
        ended = last;
      },
      body(bytes, last) {
        body += bytes.toString('latin1');
        ended = last;
      },
    },
    { maxHeaderBytes: 64 * 1024, maxHeaderLines: 1000 },
  );
  syntax.answers(method, upgrade);
  reader.expect();
  const ok = pieces.every((piece) => reader.feed(Buffer.from(piece, 'latin1')) === piece.length);
  if (close && ok) reader.finish();
  return { ok, status, fields, body, ended, keepAlive };
}

/** Splits a text into pieces at these positions. */
export function splitAt(text: string, positions: readonly number[]): string[] {
  const at = [...new Set(positions.map((position) => position % text.length))].sort(
    (a, b) => a - b,
  );
  return [0, ...at].map((from, index) => text.slice(from, at[index]));
}
