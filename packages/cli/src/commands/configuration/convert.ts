import { writeFileSync } from 'node:fs';
import { Argument, Command } from 'commander';
import { convertSource, FORMATS, type Format } from '../../convert/convert-source.ts';
import { hostOf } from '../../convert/values.ts';
import { remarkLine } from '../../convert/write-files.ts';
import { collect } from '../../input/body-options.ts';
import { readSources } from '../../manifest/read-sources.ts';
import { linesText } from '../../output/print.ts';
import { DifferenceError, FailedError, UsageError } from '../../program/exit-codes.ts';
import { globalsOf } from '../../program/global-options.ts';
import type { Cli } from '../../session.ts';

interface Options {
  readonly file?: string;
  readonly host?: readonly string[];
}

/** `gwctl convert` */
export const convertCommand = ({ terminal }: Cli): Command =>
  new Command('convert')
    .description(
      'Makes a file for apply of a file of decK, a configuration of nginx, or the apisix.yaml of APISIX. What has no ' +
        'equivalent is a comment where it would stand, and a line on stderr. No secret of the file is written. ' +
        'Nothing is sent.',
    )
    .addArgument(new Argument('<format>', 'what wrote the file').choices(FORMATS))
    .argument('<source>', 'the file, or - for stdin')
    .option('-f, --file <file>', 'the file to write instead of stdout')
    .option('--host <name>', 'a host of the routes that name none; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action(
      async (format: Format, given: string, { file, host = [] }: Options, command: Command) => {
        const hosts = host.map((text) => {
          const name = hostOf(text);
          if (name === undefined) throw new UsageError(`--host ${text} is no host name`);
          return name;
        });
        const { environment } = globalsOf(command);
        const [source, other] = await readSources([given], terminal).catch((error: unknown) => {
          throw error instanceof UsageError
            ? new FailedError(error.message, { cause: error })
            : error;
        });
        if (source === undefined || other !== undefined) {
          throw new FailedError(`${given} is a directory; give one file`);
        }
        const { yaml, remarks } = convertSource(format, source, { hosts, environment });
        if (file === undefined) terminal.out(yaml);
        else writeText(file, yaml);
        if (remarks.length > 0) terminal.error(linesText([...new Set(remarks.map(remarkLine))]));
        if (remarks.some(({ kind }) => kind !== 'note')) throw new DifferenceError();
      },
    );

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

const EXAMPLES = `
It exits with 0 if the result does what the file did, with 2 if a line begins with NOT CONVERTED or
DIFFERENT, and with 1 if the file cannot be read.

Examples:
  $ gwctl convert kong kong.yaml -f gateway.yaml
  $ gwctl convert nginx /etc/nginx/conf.d/api.conf --host api.example.com
  $ gwctl convert apisix - < apisix.yaml | gwctl diff -f -`;
