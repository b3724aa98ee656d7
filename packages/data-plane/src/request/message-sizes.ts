import { fieldValue } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { isMessageStream } from '@gateway/shared/http/message-streams';
import type { InboundHeaders } from './inbound-headers.ts';
import { isStream, type StreamContext } from './stream-progress.ts';

/** Flags, and the length as four bytes, the highest first. */
const PREFIX_BYTES = 5;

/** Follows the messages of one body through the lengths before them, in whatever parts it arrives. It keeps no bytes. */
export class MessageSizes {
  /** The largest message that is accepted, without the bytes before it. */
  readonly maxBytes: number;
  /** How many bytes before the next message have arrived, and the length that they announce so far. */
  #prefixBytes = 0;
  #length = 0;
  /** How much of a message has not arrived. */
  #missingBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Whether no message is cut where the body stands. */
  get areWhole(): boolean {
    return this.#prefixBytes === 0 && this.#missingBytes === 0;
  }

  /** Takes the next part of the body. Returns false if it announces a message that is too large; call it no more then. */
  fits(part: BodyBytes): boolean {
    let at = 0;
    while (at < part.length) {
      if (this.#missingBytes > 0) {
        const taken = Math.min(this.#missingBytes, part.length - at);
        this.#missingBytes -= taken;
        at += taken;
      } else {
        const byte = typeof part === 'string' ? part.charCodeAt(at) : (part[at] ?? 0);
        at += 1;
        if (!this.#announce(byte)) return false;
      }
    }
    return true;
  }

  #announce(byte: number): boolean {
    if (this.#prefixBytes > 0) this.#length = this.#length * 256 + byte;
    this.#prefixBytes += 1;
    if (this.#prefixBytes < PREFIX_BYTES) return true;
    const length = this.#length;
    this.#prefixBytes = this.#length = 0;
    this.#missingBytes = length;
    return length <= this.maxBytes;
  }
}

/** What bounds the messages of the request body; undefined: its route bounds the whole body. */
export function messageSizes(
  ctx: StreamContext & { readonly inbound: InboundHeaders },
  { max_message_bytes: maxBytes }: { readonly max_message_bytes: number },
): MessageSizes | undefined {
  if (!isStream(ctx) || !isMessageStream(fieldValue(ctx.inbound.raw, 'content-type'))) {
    return undefined;
  }
  return new MessageSizes(maxBytes);
}
