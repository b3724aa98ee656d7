/** What the commands of the bench are made of: each is data with one definition of its options, and a function. */
import { parseArgs } from 'node:util';
import { StartError } from '@gateway/tools/process/errors';
import type { Run } from './lab/run.ts';

/** An option: its default, its line in the help, and how its text becomes a value; without `parse` it is a flag. */
export interface Option<T> {
  readonly fallback: T;
  readonly help: string;
  /** @throws {StartError} that says what the value must be */
  readonly parse?: (text: string) => T;
}

/** A whole number within bounds, which limit how long a run may take. */
export function whole<F extends number | undefined>(
  fallback: F,
  [min, max]: readonly [min: number, max: number],
  help: string,
): Option<number | F> {
  const parse = (text: string) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new StartError(`must be a whole number from ${min} to ${max}`);
  };
  return { fallback, help, parse };
}

export function text<F extends string | undefined>(fallback: F, help: string): Option<string | F> {
  return { fallback, help, parse: (value) => value };
}

export function choice<T extends string>(
  choices: readonly T[],
  fallback: T,
  help: string,
): Option<T> {
  const parse = (value: string) => {
    const chosen = choices.find((one) => one === value);
    if (chosen === undefined) throw new StartError(`must be one of ${choices.join(', ')}`);
    return chosen;
  };
  return { fallback, help, parse };
}

/** Names with commas between them. */
export function names(help: string): Option<readonly string[]> {
  const parse = (list: string) => list.split(',').filter((name) => name !== '');
  return { fallback: [], help, parse };
}

export const flag = (help: string): Option<boolean> => ({ fallback: false, help });

type Options = Readonly<Record<string, Option<unknown>>>;
type Values<O> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** A command. Options are named in camel case here and in kebab case on the command line. */
export interface Command<O extends Options = Options> {
  readonly name: string;
  readonly summary: string;
  /** How the arguments stand in the help; without it there are none. */
  readonly argument?: string;
  readonly options: O;
  run(run: Run, options: Values<O>, args: readonly string[]): Promise<void>;
}

/** Checks that `run` fits the options, whose types a list of commands no longer knows. */
export const command = <O extends Options>(one: Command<O>) => one as unknown as Command;

export interface Chosen {
  readonly command: Command;
  readonly values: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
}

/**
 * Reads a command line. The first command is the one without a name.
 *
 * @returns the help if that is asked for
 * @throws {StartError} with the help if the command, an option or a value does not exist
 */
export function chooseCommand(all: readonly Command[], argv: readonly string[]): Chosen | string {
  const [name = '', ...others] = argv;
  if (name === '--help') return listOf(all);
  const isNamed = name !== '' && !name.startsWith('-');
  const chosen = isNamed ? all.find((one) => one.name === name) : all[0];
  if (chosen === undefined) throw new StartError(`unknown command: ${name}\n\n${listOf(all)}`);
  try {
    return parse(chosen, isNamed ? others : argv);
  } catch (error) {
    throw new StartError(`${messageOf(error)}\n\n${helpOf(chosen)}`);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '');
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function parse(one: Command, argv: readonly string[]): Chosen | string {
  const entries = Object.entries(one.options);
  const known = entries.map(([name, option]) => {
    return [kebab(name), { type: option.parse ? 'string' : 'boolean' }] as const;
  });
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { ...Object.fromEntries(known), help: { type: 'boolean' } },
    allowPositionals: one.argument !== undefined,
  });
  const given: Readonly<Record<string, string | boolean | undefined>> = values;
  if (given['help'] === true) return helpOf(one);
  const read = entries.map(([name, option]) => {
    const value = given[kebab(name)] ?? option.fallback;
    try {
      const isGiven = kebab(name) in given;
      return [name, isGiven && option.parse ? option.parse(String(value)) : value] as const;
    } catch (error) {
      throw new StartError(`--${kebab(name)}: ${messageOf(error)}`);
    }
  });
  return { command: one, values: Object.fromEntries(read), args: positionals };
}

function helpOf({ name, summary, argument = '', options }: Command): string {
  const lines = Object.entries(options).map(([option, { help, parse: read, fallback }]) => {
    const shown = ['number', 'string'].includes(typeof fallback) ? ` (${fallback as string})` : '';
    return `  --${kebab(option)}${read === undefined ? '' : ' <value>'}: ${help}${shown}`;
  });
  return [`npm run bench -- ${name} ${argument}`.trim(), summary, ...lines].join('\n');
}

function listOf(all: readonly Command[]): string {
  const lines = all.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`);
  return ['npm run bench -- <command> [--help]. All traffic stays on 127.0.0.1.', ...lines].join(
    '\n',
  );
}
