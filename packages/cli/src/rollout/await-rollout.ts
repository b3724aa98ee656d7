import { FailedError } from '../program/exit-codes.ts';
import type { Session } from '../session.ts';
import { withProgress } from '../terminal/progress.ts';
import { dataPlaneLines, listDataPlanes, type DataPlane } from './data-plane-lines.ts';

export interface RolloutQuestion {
  readonly environment: string;
  readonly timeoutMs: number;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
}

/** The gateway answers a wait at the latest after this time; then it is asked again. */
const MAX_WAIT_SECONDS = 10;
const PAUSE_MS = 500;

/**
 * Waits until every live data plane serves all changes of an environment, and shows what each of them serves.
 * @throws FailedError after the timeout, or if some of it cannot be used; it says which data planes are behind, and why
 */
export async function awaitRollout(session: Session, question: RolloutQuestion): Promise<void> {
  const { environment, timeoutMs } = question;
  const label = `Waiting until every data plane serves ${environment}`;
  const reason = await withProgress(session.terminal, label, async ({ show }) => {
    const stopped = new AbortController();
    const signal = AbortSignal.any([stopped.signal, question.signal]);
    const shown = showDataPlanes(session, environment, signal, show);
    try {
      return await pollRollout(session, question);
    } finally {
      stopped.abort();
      await shown;
    }
  });
  const planes = await dataPlanesOf(session, environment, question.signal);
  if (reason === undefined) {
    session.note(rolledOutText(environment, planes));
    return;
  }
  const lines = planes.every(({ stale }) => stale)
    ? [REASONS[reason] ?? reason]
    : dataPlaneLines(planes);
  const failure =
    reason === UNUSABLE
      ? 'some data planes cannot use a part of the configuration'
      : `after ${Math.round(timeoutMs / 1000)} s not every data plane serves them`;
  throw new FailedError(
    [`the changes are applied, but ${failure}`, ...lines.map((line) => `  ${line}`)].join('\n'),
  );
}

const REASONS: Readonly<Record<string, string>> = {
  not_published: 'the changes are not published yet',
  data_planes_behind: 'some data planes do not serve them yet',
  no_live_data_planes: 'no data plane is live',
};

/** Waiting longer does not change it. */
const UNUSABLE = 'configuration_unusable';

/** Resolves with undefined when every data plane serves the changes, and after the timeout with the reason why not. */
async function pollRollout(
  { client, terminal }: Session,
  { environment, timeoutMs, signal }: RolloutQuestion,
): Promise<string | undefined> {
  const endMs = terminal.nowMs() + timeoutMs;
  for (;;) {
    const leftSeconds = Math.max(0, Math.ceil((endMs - terminal.nowMs()) / 1000));
    // An apply of nothing waits for all changes that were made before it.
    const { headers } = await client.post('/v1/environments/{name}/apply', {
      params: {
        path: { name: environment },
        header: { Prefer: `wait=${Math.min(leftSeconds, MAX_WAIT_SECONDS)}` },
      },
      body: {},
      signal,
    });
    if (headers.has('preference-applied')) return undefined;
    const reason = headers.get('x-gateway-wait') ?? 'unknown';
    if (leftSeconds === 0 || reason === UNUSABLE) return reason;
    await terminal.pause(PAUSE_MS, signal);
  }
}

/** Shows what each data plane serves until the signal aborts. */
async function showDataPlanes(
  session: Session,
  environment: string,
  signal: AbortSignal,
  show: (lines: readonly string[]) => void,
): Promise<void> {
  if (session.terminal.stderrColumns === undefined) return;
  try {
    for (;;) {
      show(dataPlaneLines(await dataPlanesOf(session, environment, signal)));
      await session.terminal.pause(PAUSE_MS, signal);
    }
  } catch {
    // The wait is over.
  }
}

/** The data planes; none if the token may not see them, or if they cannot be read now. */
async function dataPlanesOf(
  { client }: Session,
  environment: string,
  signal: AbortSignal,
): Promise<readonly DataPlane[]> {
  try {
    return await listDataPlanes(client, environment, signal);
  } catch {
    return [];
  }
}

/** Nothing waits for a stale data plane, so whoever reads that the changes are served learns which ones are left out. */
function rolledOutText(environment: string, planes: readonly DataPlane[]): string {
  const live = planes.filter(({ stale }) => !stale);
  const stale = planes.filter((plane) => plane.stale);
  const [first] = live;
  const version = first?.environments[0]?.newest_version ?? 'unknown';
  const names = live.map(({ id }) => id).join(', ');
  const served = first === undefined ? '' : ` version ${version}: ${names}`;
  const every = stale.length === 0 ? 'Every data plane' : 'Every live data plane';
  return [
    `${every} serves ${environment}${served}.`,
    ...stale.map(
      ({ id, last_seen_at }) =>
        `Not waited for: ${id}. It is stale: it sends no heartbeats since ${last_seen_at}.`,
    ),
  ].join('\n');
}
