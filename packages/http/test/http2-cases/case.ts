import type { FrameClient } from '../http2-frames.ts';

/** Bytes to send, or what to wait for before the next ones. */
export type Step = Buffer | ((client: FrameClient) => Promise<unknown>);

/**
 * What a server must do. `goAway`: the connection ends with this code. `reset`: stream 1 is reset with this code, and
 * other streams are served. `answer`: stream 1 gets a response. `alive`: the connection answers a ping. `data`: the
 * sizes of the DATA frames of stream 1.
 */
export type Expected =
  | { readonly goAway: number }
  | { readonly reset: number; readonly stream?: number }
  | { readonly answer: number }
  | { readonly data: readonly number[] }
  | 'alive'
  | 'settings'
  | 'acknowledged';

/** One case: the section of RFC 9113 or RFC 7541 that it is about, what is sent, and what must follow. */
export type Case = readonly [section: string, name: string, steps: readonly Step[], Expected];

/** What h2spec calls its generic tests is under the sections of RFC 9113 too. */
export const ANSWER: Expected = { answer: 1 };
