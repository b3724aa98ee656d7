import { requireYes } from '../../confirmation/confirm-change.ts';
import { heading } from '../../difference/difference-lines.ts';
import { linesText } from '../../output/print.ts';
import type { Session } from '../../session.ts';
import type { DesiredState } from './desired-state.ts';
import { compareDesiredState } from './send-desired-state.ts';

/**
 * Lists what a prune deletes, and asks. Returns the version of the configuration that the list is of, so that nothing
 * else can be deleted.
 * @throws FailedError if the answer is no
 */
export async function confirmPrune(
  session: Session,
  desired: DesiredState,
  signal: AbortSignal,
): Promise<number> {
  const { client, terminal } = session;
  const params = { path: { name: desired.environment } };
  const { body } = await client.get('/v1/environments/{name}', { params, signal });
  const ifVersion = body.data.config_version;
  const planned = await compareDesiredState(session, desired, { ifVersion, signal });
  const deleted = planned.changes.filter(({ action }) => action === 'deleted');
  if (deleted.length === 0) return ifVersion;
  const others = planned.changes.length - deleted.length;
  const lines = deleted.map((change) => heading(change, terminal));
  terminal.error(`--prune deletes what the files do not have:\n${linesText(lines)}`);
  const more = others === 0 ? '' : ` and make ${counted(others, 'other change')}`;
  const what = counted(deleted.length, 'resource');
  await requireYes(terminal, `Delete ${what} of ${desired.environment}${more}?`, signal);
  return ifVersion;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
