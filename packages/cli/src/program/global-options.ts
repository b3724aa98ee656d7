import { Option, type Command } from 'commander';
import { FORMATS, parseOutput, type Output } from '../output/formats.ts';
import { COLOUR_CHOICES, type ColourChoice } from '../output/colours.ts';

export interface Globals {
  readonly output: Output;
  readonly context?: string;
  readonly environment?: string;
  readonly color: ColourChoice;
}

/** The options that every command has. */
export const globalOptions = (): Option[] => [
  new Option('-o, --output <format>', `how to print the result: ${FORMATS.join(', ')}`)
    .argParser(parseOutput)
    .default('table'),
  new Option('--environment <environment>', 'the environment (default: that of the context)'),
  new Option('--context <context>', 'the context (default: the current one)'),
  new Option('--color <when>', 'colours').choices(COLOUR_CHOICES).default('auto'),
];

/** The words of these options, each of which takes a value. */
export const VALUE_OPTIONS: readonly string[] = globalOptions().flatMap(({ short, long }) =>
  [short, long].filter((flag) => flag !== undefined),
);

export const globalsOf = (command: Command): Globals => command.optsWithGlobals<Globals>();
