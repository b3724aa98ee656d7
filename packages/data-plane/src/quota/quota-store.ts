import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { BucketBound } from '../nats/bucket-bounds.ts';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';

/** The request that a quota is taken for. It may stop waiting for the answer. */
export interface Requester {
  readonly clientGone: boolean;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
}

/** The answer to a request. */
export interface QuotaDecision extends FixedWindow {
  /** The quota cannot be counted: NATS is away, and the route refuses requests then, or this data plane has no share. */
  readonly unavailable?: boolean;
  /** NATS answers, but stores no new quota of this subject: the bound that is reached. */
  readonly bound?: BucketBound;
}

/** Counts requests against quotas. The answer is immediate unless it needs NATS. */
export interface QuotaStore {
  /**
   * Takes one request from the current window of the policy and subject (a route, a token or an address). If the
   * requester has left or its deadline has passed before there is an answer, nothing is taken and the promise stays
   * pending.
   *
   * @param nowMs by the local wall clock
   */
  take(
    policy: QuotaPolicy,
    subject: string,
    nowMs: number,
    requester?: Requester,
  ): QuotaDecision | Promise<QuotaDecision>;
}
