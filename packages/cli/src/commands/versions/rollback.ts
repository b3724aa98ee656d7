import { ApiError, type components } from '@gateway/client';
import { Command } from 'commander';
import {
  requireTerminal,
  requireYes,
  withYesOption,
  type YesOption,
} from '../../confirmation/confirm-change.ts';
import { trafficLine } from '../../confirmation/traffic-lines.ts';
import { differenceLines } from '../../difference/difference-lines.ts';
import { wholeNumber } from '../../input/numbers.ts';
import { linesText } from '../../output/print.ts';
import { ErrorWithRemark } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';

type RollbackResult = components['schemas']['RollbackResult'];

interface Options extends YesOption {
  readonly ifVersion?: number;
  readonly dryRun?: true;
}

const OUTDATED = 'the list may be out of date, and nothing was changed; run it again';
const OLD_SECRETS = 'Old secrets come back, even one that was replaced because it leaked.';

/** `gwctl rollback` */
export const rollbackCommand = (cli: Cli): Command =>
  withYesOption(new Command('rollback'))
    .description(
      'Restores the services and routes of a version of an environment. It is published as a new version. ' +
        'gwctl versions lists them. It shows what it would change and asks first; then nothing else is changed, even if ' +
        'another version was published meanwhile. With --if-version nothing is changed in that case either.',
    )
    .argument('<version>', 'the number of the version', wholeNumber)
    .option('--dry-run', 'show what it would change, and change nothing')
    .option('--if-version <number>', 'the newest version, whose difference you read', wholeNumber)
    .addHelpText('after', '\nExamples:\n  $ gwctl rollback 41 --dry-run\n  $ gwctl rollback 41')
    .action(async (version: number, options: Options, command: Command) => {
      const session = cli.open(command);
      const { dryRun: dry_run = false, yes, ifVersion } = options;
      const name = session.requireEnvironment();
      if (dry_run || yes) {
        await print(session, await send(session, name, { version, dry_run }, ifVersion));
        return;
      }
      requireTerminal(session.terminal, 'it changes services and routes');
      const seen = ifVersion ?? (await newestVersion(session, name));
      try {
        const planned = await send(session, name, { version, dry_run: true }, seen);
        if (planned.changed) await ask(session, planned);
        // The plan is still the same, so without a question it changes nothing.
        await print(session, await send(session, name, { version, dry_run: false }, seen));
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.code === 'precondition_failed';
        throw isOutdated ? new ErrorWithRemark(OUTDATED, error) : error;
      }
    });

async function newestVersion({ client }: Session, name: string): Promise<number> {
  const { body } = await client.get('/v1/environments/{name}', { params: { path: { name } } });
  return body.data.config_version;
}

async function send(
  { client }: Session,
  name: string,
  body: { readonly version: number; readonly dry_run: boolean },
  ifVersion: number | undefined,
): Promise<RollbackResult> {
  const header = ifVersion === undefined ? {} : { 'If-Match': `"${ifVersion}"` };
  const params = { path: { name }, header };
  return (await client.post('/v1/environments/{name}/rollback', { params, body })).body.data;
}

/** @throws FailedError if the answer is no */
async function ask(session: Session, planned: RollbackResult): Promise<void> {
  const { environment, restored_version: version, changes } = planned;
  const { terminal } = session;
  const fields = changes.flatMap((change) => change.fields.map(({ path }) => path));
  const hasSecrets = fields.some((path) => /^\/(credential|tls\/client_certificate)\b/.test(path));
  const traffic = await trafficLine(session, `environment ${environment}`, { environment });
  const lines = [...differenceLines(planned, terminal), ...(hasSecrets ? [OLD_SECRETS] : [])];
  terminal.error(linesText([...lines, traffic]));
  await requireYes(terminal, `Roll ${environment} back to version ${version}?`);
}

async function print(session: Session, result: RollbackResult): Promise<void> {
  const { printsData, terminal } = session;
  if (printsData) await session.printResource(result);
  else terminal.out(linesText(differenceLines(result, terminal)));
}
