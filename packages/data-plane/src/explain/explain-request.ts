import type { ExplainQuestion } from '@gateway/shared/explain/explain-messages';
import {
  EXPLAINED_STAGES,
  type ExplainedStage,
  type Explanation,
} from '@gateway/shared/explain/explanation';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { AccessError } from '../access/refuse-access.ts';
import type { RequestContext } from '../request/context.ts';
import type { Reply } from '../request/stage.ts';
import { environmentByCaller } from '../request/resolve-route-stage.ts';
import { decidingStages, type StageOptions } from '../stages.ts';
import { dryStageOptions, hashOfToken, WouldWaitError, type Findings } from './dry-stages.ts';
import type { ExplainedRun, ExplainParts, StageFinding } from './explained-run.ts';
import { takenBody } from './explain-forward.ts';
import { describe } from './describe-explanation.ts';
import { explainContext } from './explain-context.ts';
import { reasonOfRule, reasonToContinue } from './stage-reasons.ts';

/** Says what would happen to a request. */
export type Explain = (question: ExplainQuestion) => Promise<Explanation>;

/**
 * Runs the stages of the data path without their effects, up to the one that ends the request, and describes what each
 * decides. Nothing is sent, and no quota, key, slot, record, health or metric of traffic changes.
 */
export function createExplain(parts: ExplainParts): Explain {
  return async (question) => describe(await run(question, parts), parts);
}

async function run(question: ExplainQuestion, parts: ExplainParts): Promise<ExplainedRun> {
  const { stages: options } = parts;
  const { token_id: tokenId } = question;
  const hash = tokenId === null ? undefined : hashOfToken(parts.context.table(), tokenId);
  const findings: Findings = { quota: undefined, key: undefined };
  const { adaptiveLimits } = options.forward;
  const dry = dryStageOptions({ ...parts, adaptiveLimits }, hash ?? '', findings);
  const reach = {
    environmentOf: environmentByCaller(dry.resolveRoute),
    complete: options.access.complete,
    defaultEnvironment: dry.resolveRoute.defaultEnvironment,
  };
  const { ctx, found: way } = explainContext(question, reach, parts.context);
  const reachedBy = way?.reachedBy;
  if (way?.isElsewhere === true) {
    ctx.finish();
    const stages = elsewhere(way.reachedBy.reason);
    return { ctx, reachedBy, findings, stages, refusedBy: undefined };
  }
  const reasons = { bulkheads: options.bulkheads.requests };
  const stages: StageFinding[] = [];
  let refusedBy: string | undefined;
  const isPreflight = ctx.target.preflight !== undefined;
  for (const [name, stage] of decidingStages(dry)) {
    if (name === 'preflight' && !isPreflight) continue;
    let found: StageFinding;
    try {
      const running = stage(ctx);
      // The slot that the stage took is given back before anything else can run.
      if (name === 'bulkhead') ctx.finish();
      const reply = await running;
      found =
        findings.quota?.basis === 'others' && name === 'quota'
          ? waits(name, reasonToContinue(name, ctx, findings, reasons))
          : reply === undefined
            ? { name, decision: 'continue', reason: reasonToContinue(name, ctx, findings, reasons) }
            : answers(name, reply);
    } catch (error) {
      found = endedBy(name, error);
      if (error instanceof AccessError) refusedBy = error.rule;
    }
    stages.push(found);
    if (found.outcome !== undefined) break;
  }
  if (stages.at(-1)?.outcome === undefined) stages.push(await forward(ctx, options));
  ctx.finish();
  for (const name of stagesOf(isPreflight).slice(stages.length)) {
    stages.push({ name, decision: 'not_reached', reason: 'An earlier stage ends the request.' });
  }
  return { ctx, reachedBy, findings, stages, refusedBy };
}

/** The stages of a request, as the data path runs them: only a preflight that it answers has a stage of its own. */
function stagesOf(isPreflight: boolean): readonly ExplainedStage[] {
  return EXPLAINED_STAGES.filter((name) => name !== 'preflight' || isPreflight);
}

/** The stages of a request that is not one of the route: none of them says anything about another route. */
function elsewhere(reason: string): readonly StageFinding[] {
  return stagesOf(false).map((name): StageFinding => {
    if (name !== 'resolve_route') {
      return { name, decision: 'not_reached', reason: 'The request is not one of this route.' };
    }
    const decision = 'elsewhere';
    const ends = { status: null, code: null, retry_after_seconds: null };
    return { name, decision, reason, outcome: { decision, stage: name, reason, ...ends } };
  });
}

/** The last stage: it would send the request, unless its body is too large. */
async function forward(
  ctx: RequestContext,
  { forward: options }: StageOptions,
): Promise<StageFinding> {
  const name = 'forward';
  const { route, version } = ctx;
  if (route === undefined || version === undefined) {
    throw new Error('no stage has refused a request without a route');
  }
  try {
    ctx.takenBody = await takenBody(ctx, route, version.service, options);
  } catch (error) {
    return endedBy(name, error);
  }
  const reason = 'The request is sent to an upstream of the service.';
  const outcome = {
    decision: name,
    stage: name,
    status: null,
    code: null,
    reason,
    retry_after_seconds: null,
  } as const;
  return { name, decision: name, reason, outcome };
}

const ANSWERS: Partial<Record<ExplainedStage, string>> = {
  preflight: 'The gateway answers this preflight itself: `cors` of the route allows the origin.',
  answer: 'The route answers itself: it has no service.',
  idempotency: 'The stored response of the first request with this key is sent again.',
};

function answers(name: ExplainedStage, { status }: Reply): StageFinding {
  const reason = ANSWERS[name] ?? 'The gateway answers this itself, because Max-Forwards is 0.';
  const decision = 'answer';
  return {
    name,
    decision,
    reason,
    outcome: { decision, stage: name, status, code: null, reason, retry_after_seconds: null },
  };
}

function waits(name: ExplainedStage, reason: string): StageFinding {
  const decision = 'wait';
  return {
    name,
    decision,
    reason,
    outcome: { decision, stage: name, status: null, code: null, reason, retry_after_seconds: null },
  };
}

/** @throws an error that is no decision of the stage */
function endedBy(name: ExplainedStage, error: unknown): StageFinding {
  if (error instanceof WouldWaitError) return waits(name, error.message);
  if (!(error instanceof GatewayError)) throw error;
  const { status, code, message, headers } = error;
  const rule = error instanceof AccessError ? reasonOfRule(error.rule) : undefined;
  const retryAfter = headers['retry-after'];
  return {
    name,
    decision: 'refuse',
    reason: rule === undefined ? message : `${message} The caller is refused, because ${rule}.`,
    outcome: {
      decision: 'refuse',
      stage: name,
      status,
      code,
      reason: message,
      retry_after_seconds: retryAfter === undefined ? null : Number(retryAfter),
    },
  };
}
