import { Option, type Command } from 'commander';
import { OUTPUTS, type Output } from '../output/print.ts';

export interface Globals {
  readonly output: Output;
  readonly context?: string;
  readonly environment?: string;
}

/** The options that every command has. */
export const globalOptions = (): Option[] => [
  new Option('-o, --output <format>', 'how to print the result').choices(OUTPUTS).default('table'),
  new Option('--environment <name>', 'the environment (default: that of the context)'),
  new Option('--context <name>', 'the context (default: the current one)'),
];

export const globalsOf = (command: Command): Globals => command.optsWithGlobals<Globals>();
