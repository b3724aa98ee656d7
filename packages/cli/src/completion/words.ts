import type { Argument, Command, Option } from 'commander';

/** A command and what may follow it. */
export interface Completion {
  /** Such as `gwctl services list`. */
  readonly path: string;
  readonly commands: readonly Described[];
  /** The values of its arguments, if they are a fixed set. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface Described {
  readonly name: string;
  readonly description: string;
}

export interface CompletedOption {
  /** Such as `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** What follows the option: a file, one of these values, or another text; undefined: nothing. */
  readonly value: 'file' | 'text' | readonly string[] | undefined;
}

const HELP: CompletedOption = {
  flags: ['-h', '--help'],
  description: 'display help for command',
  value: undefined,
};

/** What may follow each command of the program: its commands, the choices of its arguments, and its options. */
export function completions(program: Command): Completion[] {
  const globals = program.options.map(completedOption);
  const walk = (command: Command, path: string): Completion[] => {
    const own = command === program ? [] : command.options.map(completedOption);
    const completion = {
      path,
      commands: command.commands.map((one) => ({
        name: one.name(),
        description: one.summary() || one.description(),
      })),
      choices: command.registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? []),
      options: [...own, ...globals, HELP],
    };
    return [completion, ...command.commands.flatMap((one) => walk(one, `${path} ${one.name()}`))];
  };
  return walk(program, program.name());
}

function completedOption({ short, long, description, flags, argChoices }: Option): CompletedOption {
  const takesValue = /[<[]/.test(flags);
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: takesValue ? (argChoices ?? (/<file>/.test(flags) ? 'file' : 'text')) : undefined,
  };
}

/** What the shell offers after a command, with the long name of each option. */
export function wordsOf({ commands, choices, options }: Completion): string[] {
  const flags = options.map((option) => option.flags.at(-1) ?? '');
  return [...commands.map(({ name }) => name), ...choices, ...flags];
}
