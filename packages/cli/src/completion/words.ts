import type { Argument, Command, Option } from 'commander';
import { isNameKind, type NameKind } from './name-kinds.ts';

/** A command and what may follow it. */
export interface Completion {
  /** Such as `gwctl services list`. */
  readonly path: string;
  /** The path with each name and alias of the command, such as `gwctl services ls`. */
  readonly spellings: readonly string[];
  readonly commands: readonly Described[];
  /** The values of its arguments, if they are a fixed set. */
  readonly choices: readonly string[];
  /** What its first argument names, if the gateway or the contexts have the names. */
  readonly names: NameKind | undefined;
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
  /** What follows the option: a file, a name, one of these values, or another text; undefined: nothing. */
  readonly value: 'file' | 'text' | { readonly names: NameKind } | readonly string[] | undefined;
}

const HELP: CompletedOption = {
  flags: ['-h', '--help'],
  description: 'display help for command',
  value: undefined,
};

/** What may follow each command of the program: its commands, the values of its arguments, and its options. */
export function completions(program: Command): Completion[] {
  const globals = program.options.map(completedOption);
  const walk = (command: Command, parent: string): Completion[] => {
    const own = command === program ? [] : command.options.map(completedOption);
    const below = parent === '' ? '' : `${parent} `;
    const path = below + command.name();
    const shown = command.commands.filter((one) => !isHidden(one));
    const completion = {
      path,
      spellings: [command.name(), ...command.aliases()].map((name) => below + name),
      commands: shown.map((one) => ({
        name: one.name(),
        description: one.summary() || one.description(),
      })),
      choices: command.registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? []),
      names: namesOf(command.registeredArguments[0]),
      options: [...own, ...globals, HELP],
    };
    return [completion, ...shown.flatMap((one) => walk(one, path))];
  };
  return walk(program, '');
}

/** Names for programs begin with an underscore. */
const isHidden = (command: Command) => command.name().startsWith('_');

function namesOf(argument: Argument | undefined): NameKind | undefined {
  const name = argument?.name();
  return name !== undefined && isNameKind(name) ? name : undefined;
}

function completedOption(option: Option): CompletedOption {
  const { short, long, description } = option;
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: valueOf(option),
  };
}

function valueOf({ long, flags, argChoices }: Option): CompletedOption['value'] {
  const placeholder = /[<[]([^>\]]*)[>\]]/.exec(flags)?.[1];
  if (placeholder === undefined) return undefined;
  if (argChoices !== undefined) return argChoices;
  if (placeholder === 'file') return 'file';
  if (long === '--output')
    return ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath=', 'custom-columns='];
  return isNameKind(placeholder) ? { names: placeholder } : 'text';
}

/** What the shell offers after a command, with the long name of each option. */
export function wordsOf({ commands, choices, options }: Completion): string[] {
  const flags = options.map((option) => option.flags.at(-1) ?? '');
  return [...commands.map(({ name }) => name), ...choices, ...flags];
}
