import type { Pair } from '../harness/pair.ts';
import { connectPairs } from './connect-pairs.ts';

/** Pairs of a gateway that serves HTTP/2 with and without TLS. */
export const OVER_HTTP2: readonly Pair[] = [...connectPairs];
