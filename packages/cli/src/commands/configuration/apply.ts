import { Command, Option } from 'commander';
import { requireTerminal } from '../../confirmation/confirm-change.ts';
import { appliedLines } from '../../difference/difference-lines.ts';
import { duration } from '../../input/durations.ts';
import { linesText } from '../../output/print.ts';
import { UsageError } from '../../program/exit-codes.ts';
import { awaitRollout } from '../../rollout/await-rollout.ts';
import { UNSEEN, type Cli, type Session } from '../../session.ts';
import { confirmFrom, confirmPrune } from './confirm-prune.ts';
import {
  APPLY_TIMEOUT_MS,
  readDesiredState,
  withFileOptions,
  type DesiredState,
  type FileOptions,
} from './desired-state.ts';
import { sendDesiredState } from './send-desired-state.ts';
import { showDifference, withExitCodeOption, type ExitCodeOption } from './show-difference.ts';
import { APPLIED, SENT, withWhatIsKnown } from './what-is-known.ts';

interface Options extends FileOptions, ExitCodeOption {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly wait?: true;
  readonly timeout: number;
}

/** `gwctl apply` */
export const applyCommand = (cli: Cli): Command =>
  withExitCodeOption(withFileOptions(new Command('apply')))
    .description(
      'Makes the services and routes of an environment as files declare them, by name. All changes are one version of ' +
        'the configuration, or nothing is changed. The same files again change nothing. With --from it reads another ' +
        'environment instead of files, shows the difference and asks.',
    )
    .option('--dry-run', 'show the difference and change nothing, as gwctl diff does')
    .option('--yes', 'do not ask before --prune deletes and --from changes something')
    .option('--wait', 'wait until every data plane serves the changes')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait')
        .argParser(duration)
        .default(60_000, '60s'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, command: Command) => {
      const session = cli.open(command, { timeoutMs: APPLY_TIMEOUT_MS });
      const asks = !options.yes && !options.dryRun;
      if (asks && options.prune) requireTerminal(session.terminal, '--prune deletes');
      if (asks && options.from !== undefined) {
        requireTerminal(session.terminal, '--from applies what nobody has read');
      }
      if (options.exitCode && !options.dryRun) throw new UsageError('--exit-code needs --dry-run');
      const desired = await readDesiredState(session, options);
      if (options.dryRun) await showDifference(session, desired, options);
      else await apply(session, desired, options);
    });

async function apply(
  session: Session,
  desired: DesiredState,
  { yes, from, wait, timeout: timeoutMs }: Options,
): Promise<void> {
  const { terminal, printsData } = session;
  const signal = terminal.interrupted();
  await withWhatIsKnown(signal, async (become) => {
    const confirm = from !== undefined ? confirmFrom : desired.prune ? confirmPrune : undefined;
    const ifVersion = yes ? undefined : await confirm?.(session, desired, signal);
    become(SENT);
    const guard = ifVersion === undefined ? {} : { ifVersion };
    const result = await sendDesiredState(session, desired, { dryRun: false, ...guard, signal });
    become(APPLIED);
    if (result === undefined) session.note(UNSEEN);
    else if (printsData) await session.printResource(result);
    else terminal.out(linesText(appliedLines(result, terminal)));
    const { environment } = desired;
    if (wait) await awaitRollout(session, { environment, timeoutMs, signal });
  });
}

const EXAMPLES = `
A secret is a reference in the file, such as token: \${PAYMENTS_TOKEN}. It is replaced by the variable
of this name, or keeps the stored secret if the variable is not set.

Examples:
  $ gwctl apply -f gateway.yaml
  $ gwctl apply -f gateway/ --prune --yes --wait
  $ gwctl export | gwctl apply -f - --dry-run
  $ gwctl apply --from staging --only routes --environment production`;
