import { Command } from 'commander';
import { differenceLines } from '../../difference/difference-lines.ts';
import { versionChanges } from '../../difference/version-changes.ts';
import { wholeNumber } from '../../input/numbers.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { linesText } from '../../output/print.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';

/** Differences in one answer of the API. */
const PAGE = 50;

/** `gwctl versions diff` */
export const diffVersions = (cli: Cli): Command =>
  new Command('diff')
    .summary('Show what a version changed, or what differs between two.')
    .description(
      'Shows the services and routes that a version changed; with two versions, what differs from the first to the ' +
        'second. No secret is shown. rollback --dry-run shows what a rollback would change.',
    )
    .argument('<version>', 'the number of the version', wholeNumber)
    .argument(
      '[other]',
      'compare it with this version (default: with the one before it)',
      wholeNumber,
    )
    .addHelpText('after', '\nExamples:\n  $ gwctl versions diff 42\n  $ gwctl versions diff 40 42')
    .action(async (version: number, other: number | undefined, _options, command: Command) => {
      const [from, to] = other === undefined ? [version - 1, version] : [version, other];
      if (from < 1) throw new UsageError('version 1 has none before it; give two versions');
      const session = cli.open(command);
      const name = session.requireEnvironment();
      const params = { path: { name }, query: { from, to, limit: PAGE } };
      const list = session.client.list('/v1/environments/{name}/diff', { params });
      const differences = await collectItems(list);
      if (session.printsData) {
        await session.printResource(differences);
        return;
      }
      const lines =
        differences.length === 0
          ? ['No service and no route differs. Tokens are not compared.']
          : differenceLines(versionChanges(name, differences), session.terminal);
      session.terminal.out(linesText([`${name}, version ${from} to ${to}`, '', ...lines]));
    });
