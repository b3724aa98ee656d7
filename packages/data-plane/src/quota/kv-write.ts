import { errors } from '@nats-io/nats-core';
import { StreamFullError } from '../nats/stream-values.ts';
import type { WriteResult } from './ledger.ts';

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
