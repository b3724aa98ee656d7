import { Command } from 'commander';
import type { Cli } from '../../session.ts';
import {
  APPLY_TIMEOUT_MS,
  readDesiredState,
  withFileOptions,
  type FileOptions,
} from './desired-state.ts';
import { showDifference, withExitCodeOption, type ExitCodeOption } from './show-difference.ts';

/** `gwctl diff` */
export const diffCommand = (cli: Cli): Command =>
  withExitCodeOption(withFileOptions(new Command('diff')))
    .description(
      'Shows what an apply of files would change, and changes nothing. With --from it compares two environments. The ' +
        'token needs read scopes only. No secret is shown.',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: FileOptions & ExitCodeOption, command: Command) => {
      const session = cli.open(command, { timeoutMs: APPLY_TIMEOUT_MS });
      const desired = await readDesiredState(session, options);
      await showDifference(session, desired, options);
    });

const EXAMPLES = `
Examples:
  $ gwctl diff -f gateway/ --prune --exit-code
  $ gwctl diff --from staging --prune --environment production`;
