import { systemClock, type Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestRecord } from '@gateway/shared/records/record';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import type { CallerToken, ConfirmToken } from '../src/access/caller.ts';
import { createSearchQueue, MAX_SEARCHES } from '../src/http/search-queue.ts';
import { storableRecord } from '../src/requests/ingest/storable-record.ts';
import { requestEndpoints } from '../src/requests/endpoints/requests.ts';
import { insertRecords } from '../src/requests/store/records.ts';
import { openTestStore, type TestStore } from './store.ts';

export const NOW = Date.UTC(2030, 5, 15, 12);
export const DAY_MS = 24 * 60 * 60 * 1000;

export function token(environments = ['*'], routes = ['*']): CallerToken {
  return {
    id: 'tok_1',
    environments,
    routes,
    scopes: ['requests:read'],
    expires_at: null,
    isSecretReplaced: false,
  };
}

interface Asked {
  readonly token?: CallerToken;
  /** Default: the token stays valid. */
  readonly confirmToken?: ConfirmToken;
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** The endpoints of request records on a store of their own, at the time `NOW`. */
export class RequestWorld {
  readonly store: TestStore;
  readonly clock: ManualClock = manualClock(NOW);
  /** A wall time that does not change while time passes. */
  readonly runningClock: Clock = { ...systemClock, nowMs: () => NOW };

  private constructor(store: TestStore) {
    this.store = store;
  }

  static async open(): Promise<RequestWorld> {
    return new RequestWorld(await openTestStore());
  }

  close(): Promise<void> {
    return this.store.close();
  }

  insert(...records: readonly RequestRecord[]): Promise<number> {
    return insertRecords(this.store.db, records.map(storableRecord));
  }

  endpoints(clock: Clock = this.clock) {
    const runSearch = createSearchQueue(MAX_SEARCHES, clock);
    return requestEndpoints({ db: this.store.db, clock, runSearch });
  }

  /** The result of the endpoint, or the error code with the names of the invalid fields. */
  async ask(path: string, asked: Asked, endpoints = this.endpoints()) {
    const found = endpoints.find((one) => one.path === path);
    const { token: caller = token() } = asked;
    try {
      return await found?.run({
        token: caller,
        confirmToken: () => Promise.resolve(caller),
        params: {},
        query: {},
        body: undefined,
        sent: undefined,
        ifMatch: undefined,
        ifNoneMatch: undefined,
        clientAddress: '127.0.0.1',
        requestId: 'req_1',
        signal: new AbortController().signal,
        ...asked,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { code: error.code, paths: error.details?.map((detail) => detail.path) };
    }
  }

  show(id: string, caller = token()) {
    return this.ask('/v1/requests/{id}', { params: { id }, token: caller });
  }

  async list(query: Record<string, string>, caller = token(), clock: Clock = this.clock) {
    const asked = { query, token: caller };
    const reply = await this.ask('/v1/requests', asked, this.endpoints(clock));
    if (reply === undefined || !('kind' in reply) || reply.kind !== 'page') return reply;
    const ids = (reply.data as readonly { id: string }[]).map((record) => record.id);
    return { ids, next: reply.nextCursor };
  }
}
