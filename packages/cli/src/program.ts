import { Command } from 'commander';
import { COMMANDS, type CommandEntry } from './command-table.ts';
import { readWords } from './program/command-words.ts';
import { withoutSecrets } from './program/describe-error.ts';
import { globalOptions } from './program/global-options.ts';
import { VERSION, type Cli } from './session.ts';

/** The width of help, so that the documentation is the same everywhere. */
const HELP_WIDTH = 100;

/** The program with all of its commands, for what reads them all. */
export const wholeProgram = (cli: Cli): Promise<Command> =>
  createProgram(cli, () => true, undefined);

/** The program for a command line: of the commands that it does not name there are only the name and the summary. */
export function programFor(cli: Cli, args: readonly string[]): Promise<Command> {
  const [named, inner] = readWords(args).filter((word) => word !== 'help');
  if (named === undefined) return createProgram(cli, () => false, undefined);
  // Its script has all commands.
  if (named === 'completion') return wholeProgram(cli);
  const isNeeded = ({ name, aliases = [] }: CommandEntry) => [name, ...aliases].includes(named);
  return createProgram(cli, isNeeded, inner);
}

async function createProgram(
  cli: Cli,
  isNeeded: (entry: CommandEntry) => boolean,
  inner: string | undefined,
): Promise<Command> {
  const { terminal } = cli;
  const program = new Command('gwctl')
    .description('Configures a gateway and shows what it did.')
    .version(VERSION)
    .helpCommand(false)
    .showHelpAfterError('Run the command with --help to see how it is used.')
    .configureHelp({ showGlobalOptions: true, helpWidth: HELP_WIDTH, subcommandTerm })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.error(withoutSecrets(text)),
      outputError: (text, write) => write(errorText(text)),
    })
    .exitOverride()
    .addHelpText('after', EXIT_CODES);
  for (const option of globalOptions()) program.addOption(option);
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    for (const entry of entries) {
      const { name, aliases = [], isHidden = false, summary, load } = entry;
      const command = isNeeded(entry) ? (await load(inner))(cli) : new Command(name);
      const described = command.summary(summary).aliases(aliases).helpGroup(`${heading}:`);
      program.addCommand(described, { hidden: isHidden });
    }
  }
  inherit(program);
  return program;
}

/** A message of the library as gwctl writes its own: `gwctl: unknown option '--servce'; did you mean --service?` */
function errorText(text: string): string {
  return text
    .replace(/^error: /, 'gwctl: ')
    .replace(/\n\(Did you mean (.*\?)\)$/m, '; did you mean $1');
}

/** Commands that were made on their own do not have the settings of the program yet. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}

/** A command in a list of commands: the same whether it is loaded or not. */
function subcommandTerm(command: Command): string {
  const [alias] = command.aliases();
  const term = alias === undefined ? command.name() : `${command.name()}|${alias}`;
  const takes = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return command.parent?.parent ? [term, ...takes].join(' ') : term;
}

const EXIT_CODES = `
Environment variables:
  GATEWAY_URL, GATEWAY_TOKEN  the gateway and the token, instead of the current context
  XDG_CONFIG_HOME             where contexts are kept (default: ~/.config)
  NO_COLOR                    no colours

Exit codes:
  0 done, 1 failed, 2 there is a difference (--exit-code, convert), 3 wrong usage, 4 not allowed,
  5 the gateway is unreachable, 130 interrupted`;
