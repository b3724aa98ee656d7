import { createHash } from 'node:crypto';
import { fieldValue, withoutField, type HeaderFields } from '../../fields/header-fields.ts';
import { UNTIL_CLOSE } from '../../message/framing.ts';
import type { ResponseHead } from '../../message/response-head.ts';

/** What RFC 6455 section 1.3 appends to a key. */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY = 'sec-websocket-key';
const ACCEPT = 'sec-websocket-accept';

/** A request to leave HTTP, as HTTP/2 has it: extended CONNECT (RFC 8441 section 4). */
export interface ConnectRequest {
  /** The fields to send: without the key, which HTTP/2 does not have (section 5). */
  readonly fields: HeaderFields;
  /** The key of a WebSocket handshake; undefined if there is none. */
  readonly key: string | undefined;
}

/** @param fields of the request, which begin with its pseudo-header fields */
export function connectRequest(fields: HeaderFields): ConnectRequest {
  return { fields: withoutField(fields, KEY), key: fieldValue(fields, KEY) };
}

/** Whether a response to CONNECT opens the tunnel (RFC 9110 section 9.3.6). */
export function opensTunnel(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * The head with which a tunnel opens over HTTP/1.1: 101, and for a WebSocket the proof that its key was read (RFC 6455
 * section 4.2.2), which no server of HTTP/2 sends.
 */
export function switchingHead(head: ResponseHead, key: string | undefined): ResponseHead {
  const fields = withoutField(head.fields, ACCEPT);
  if (key !== undefined) fields.push(ACCEPT, proofOf(key));
  return { ...head, status: 101, fields, framing: UNTIL_CLOSE, keepAlive: false };
}

function proofOf(key: string): string {
  return createHash('sha1')
    .update(key + KEY_SUFFIX)
    .digest('base64');
}
