import type {
  ExplainedOutcome,
  ExplainedStage,
  ReachedBy,
  StageDecision,
} from '@gateway/shared/explain/explanation';
import type { Config } from '../config.ts';
import type { ContextOptions, RequestContext } from '../request/context.ts';
import type { StageOptions } from '../stages.ts';
import type { DryStageParts, Findings } from './dry-stages.ts';

/** What a request is explained with: the parts of the data path. */
export interface ExplainParts extends Omit<DryStageParts, 'stages' | 'adaptiveLimits'> {
  readonly config: Config;
  readonly stages: StageOptions;
  readonly context: ContextOptions;
}

/** How a stage ends a request, whatever its protocol is. */
export type StageOutcome = Omit<ExplainedOutcome, 'grpc_status'>;

/** What a stage would do, and how it would end the request if it does. */
export interface StageFinding {
  readonly name: ExplainedStage;
  readonly decision: StageDecision;
  readonly reason: string;
  readonly outcome?: StageOutcome;
}

/** What is known about a request at its end. */
export interface ExplainedRun {
  readonly ctx: RequestContext;
  readonly reachedBy: ReachedBy | undefined;
  readonly findings: Findings;
  readonly stages: readonly StageFinding[];
  readonly refusedBy: string | undefined;
}
