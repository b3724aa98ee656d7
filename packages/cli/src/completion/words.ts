import type { Command } from 'commander';

/** What may follow a command: `words` after `path`, such as `list` after `gwctl services`. */
export interface Completion {
  readonly path: string;
  readonly words: readonly string[];
}

/** What may follow each command of the program: its commands, the choices of its arguments, and its options. */
export function completions(program: Command): Completion[] {
  const globals = optionWords(program);
  const walk = (command: Command, path: string): Completion[] => {
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const names = command.commands.map((one) => one.name());
    const own = command === program ? [] : optionWords(command);
    return [
      { path, words: [...names, ...choices, ...own, ...globals, '--help'] },
      ...command.commands.flatMap((one) => walk(one, `${path} ${one.name()}`)),
    ];
  };
  return walk(program, program.name());
}

/** The values of each option that has a fixed set of them. */
export function optionChoices(program: Command): [flags: string[], values: readonly string[]][] {
  const own = program.options
    .filter(({ argChoices }) => argChoices !== undefined)
    .map(({ short, long, argChoices }): [string[], readonly string[]] => {
      const flags = [short, long].filter((flag) => flag !== undefined);
      return [flags, argChoices ?? []];
    });
  return [...own, ...program.commands.flatMap(optionChoices)];
}

function optionWords({ options }: Command): string[] {
  return options.map(({ long, short }) => long ?? short ?? '');
}
