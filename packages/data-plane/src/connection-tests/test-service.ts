import type { MasterKey } from '@gateway/shared/config/master-keys';
import {
  connectionTestQuestionSchema,
  MAX_QUESTION_AGE_MS,
  MAX_TEST_MS,
  type ConnectionTestAnswer,
  type TestedUpstream,
} from '@gateway/shared/connection-tests/test-messages';
import { verifiedQuestion } from '@gateway/shared/connection-tests/signed-question';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { CredentialOpener } from '../routing-table/compile-credential.ts';
import { takeService } from '../routing-table/compile-service.ts';
import type { CompiledService, RoutingTable } from '../routing-table/routing-table.ts';
import type { ConnectionTestMetrics } from './connection-test-metrics.ts';
import { testUpstream, type TestUpstreamOptions } from './test-upstream.ts';

/** Connections that a data plane tests at the same time, over all questions: those of two services with the most upstreams. */
export const MAX_TESTS = 128;

export interface TestServiceOptions extends TestUpstreamOptions {
  readonly dataPlaneId: string;
  readonly keys: readonly MasterKey[];
  /** Decrypts the key of a client certificate. */
  readonly opener: CredentialOpener;
  readonly table: () => RoutingTable;
  readonly metrics: ConnectionTestMetrics;
  readonly log: Logger;
}

export type TestAnswer = Omit<ConnectionTestAnswer, 'format'>;

/** Tests the connections to the upstreams of a service, all at the same time. @param signed the signed question. Never rejects */
export type TestService = (signed: string) => Promise<TestAnswer>;

export function createTestService(options: TestServiceOptions): TestService {
  const { dataPlaneId, keys, opener, table, metrics, clock, log } = options;
  let running = 0;

  async function answer(signed: string): Promise<TestAnswer> {
    const text = verifiedQuestion(signed, keys);
    if (text === undefined) return problem('refused');
    const question = connectionTestQuestionSchema.safeParse(parsed(text));
    if (!question.success) return problem('unreadable');
    const { data_plane: asked, asked_at_ms: askedAtMs, environment, service } = question.data;
    const isOld = Math.abs(clock.nowMs() - askedAtMs) > MAX_QUESTION_AGE_MS;
    if (asked !== dataPlaneId || isOld) return problem('refused');
    if (!table().environments.has(environment)) return problem('not_served');
    const compiled = takeService(service, undefined, opener);
    if ('kind' in compiled) {
      log.warn({ reason: compiled.reason }, 'service cannot be tested');
      return problem('failed');
    }
    const count = compiled.upstreams.length;
    if (running + count > MAX_TESTS) {
      metrics.tests.inc({ result: 'refused' }, count);
      return problem('busy');
    }
    running += count;
    try {
      const upstreams = await testAll(compiled, options);
      for (const { outcome } of upstreams) metrics.tests.inc({ result: outcome });
      return { upstreams: [...upstreams], problem: null };
    } finally {
      running -= count;
    }
  }

  return async (signed) => {
    try {
      return await answer(signed);
    } catch (error) {
      log.error({ err: error }, 'connections could not be tested');
      return problem('failed');
    }
  };
}

function testAll(
  { upstreams, healthCheck, tls }: CompiledService,
  options: TestUpstreamOptions,
): Promise<readonly TestedUpstream[]> {
  const { path, grpcService, timeoutMs } = healthCheck;
  const asked = grpcService === undefined ? path : { grpcService };
  const limitMs = Math.min(timeoutMs, MAX_TEST_MS);
  return Promise.all(
    upstreams.map(async (upstream) =>
      tls?.unusable === undefined
        ? testUpstream(upstream, asked, limitMs, options)
        : notConnected(upstream.id),
    ),
  );
}

/** Without its client certificate the gateway would be refused, by a fault of its own. */
function notConnected(id: string): TestedUpstream {
  return {
    id,
    outcome: 'failed',
    detail: 'client_key_unreadable',
    tls_error: null,
    protocol: null,
    tls_version: null,
    certificate_ends_ms: null,
    connect_ms: null,
    duration_ms: 0,
  };
}

function problem(name: NonNullable<TestAnswer['problem']>): TestAnswer {
  return { upstreams: [], problem: name };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
