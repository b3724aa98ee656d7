import { errors } from '@nats-io/nats-core';
import type { BucketBound } from './bucket-bounds.ts';
import { StreamFullError } from './stream-values.ts';

/** A bucket that does not answer within this time counts as unreachable, for reads and writes. */
export const ANSWER_MS = 1000;

export type WriteResult =
  /** The value is stored. */
  | { readonly kind: 'written'; readonly revision: number }
  /** Another write came first; this one is not stored and never will be. */
  | { readonly kind: 'conflict' }
  /** No answer came: it may be stored, now or later. */
  | { readonly kind: 'unknown' }
  /** The bucket stores nothing more: it is full, or has no entry of this key and accepts no new one. */
  | { readonly kind: 'full'; readonly bound: BucketBound };

/**
 * The result of a write to a bucket of NATS KV.
 *
 * @param writing the call of `StreamValues.write`
 * @throws every other error of the call
 */
export async function kvWriteResult(writing: Promise<number | undefined>): Promise<WriteResult> {
  try {
    const revision = await writing;
    return revision === undefined ? { kind: 'conflict' } : { kind: 'written', revision };
  } catch (error) {
    if (error instanceof errors.TimeoutError) return { kind: 'unknown' };
    if (error instanceof StreamFullError) return { kind: 'full', bound: 'bucket' };
    throw error;
  }
}
