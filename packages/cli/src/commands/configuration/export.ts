import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { withProgress } from '../../terminal/progress.ts';

interface Options {
  readonly file?: string;
}

/** `gwctl export` */
export const exportCommand = (cli: Cli): Command =>
  new Command('export')
    .description(
      'Writes the services and routes of an environment in the form that apply reads: YAML, or JSON with -o json. They ' +
        'are in the order of their names and without settings that have their defaults. Secrets are references such ' +
        'as ${PAYMENTS_TOKEN}, so an apply of the export changes nothing.',
    )
    .option('-f, --file <file>', 'the file to write instead of stdout')
    .addHelpText('after', '\nExample:\n  $ gwctl export -f gateway.yaml')
    .action(async ({ file }: Options, command: Command) => {
      const session = cli.open(command);
      const { client, terminal, output } = session;
      const name = session.requireEnvironment();
      const { body } = await withProgress(terminal, `Exporting ${name}`, () =>
        client.get('/v1/environments/{name}/export', { params: { path: { name } } }),
      );
      // Lines are not folded, so that a change of a value is a change of one line.
      const text =
        output === 'json'
          ? `${JSON.stringify(body.data, null, 2)}\n`
          : stringify(body.data, { lineWidth: 0 });
      if (file === undefined) terminal.out(text);
      else writeText(file, text);
    });

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
