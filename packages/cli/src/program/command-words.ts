import type { Command } from 'commander';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';
import { UsageError } from './exit-codes.ts';
import { VALUE_OPTIONS } from './global-options.ts';

/** The words of a command line that are neither global options nor their values, up to the first other option. */
export function readWords(args: readonly string[]): string[] {
  return wordsAt(args).map((at) => args[at] ?? '');
}

/** Where these words stand. */
function wordsAt(args: readonly string[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (VALUE_OPTIONS.includes(word)) at += 1;
    else if (!word.startsWith('-')) found.push(at);
    else if (!isGlobal(word)) break;
  }
  return found;
}

/** `--output=json` and `-ojson` too: the value is a part of the word. */
const isGlobal = (word: string) =>
  VALUE_OPTIONS.some((option) =>
    option.startsWith('--')
      ? word === option || word.startsWith(`${option}=`)
      : word.startsWith(option),
  );

/**
 * The command line that commander reads: `help` before, between or after the names of commands becomes `--help`, and so
 * does a group of commands without one of them.
 * @throws UsageError if a group does not have the command
 */
export function normalised(program: Command, args: readonly string[]): readonly string[] {
  let command = program;
  const helpAt: number[] = [];
  for (const at of wordsAt(args)) {
    const word = args[at] ?? '';
    const isGroup = command.commands.length > 0;
    if (word === 'help' && (isGroup || command.registeredArguments.length === 0)) {
      helpAt.push(at);
      continue;
    }
    if (!isGroup) break;
    command = childOf(command, word);
  }
  const rest = args.filter((_word, at) => !helpAt.includes(at));
  if (helpAt.length > 0) return [...rest, '--help'];
  const isBare = command.commands.length > 0 && !hasDefault(command);
  // Commander refuses an unknown option, and knows what to do with --help and --version.
  const hasOther = rest.some((word) => word.startsWith('-') && !isGlobal(word));
  return isBare && !hasOther ? [...rest, '--help'] : rest;
}

function childOf(group: Command, word: string): Command {
  const namesOf = (command: Command) => [command.name(), ...command.aliases()];
  const found = group.commands.find((command) => namesOf(command).includes(word));
  if (found !== undefined) return found;
  const path: string[] = [];
  for (let at: Command | null = group; at !== null; at = at.parent) path.unshift(at.name());
  const shown = group.commands.filter((command) => !command.name().startsWith('_'));
  const names = shown.map((command) => command.name());
  const suggestion =
    didYouMean(word, names) ||
    didYouMean(
      word,
      group.commands.flatMap((one) => one.aliases()),
    );
  throw new UsageError(
    `${path.join(' ')} has no command ${word}${suggestion}\nRun ${path.join(' ')} --help to see its commands.`,
  );
}

/** Commander keeps the name of a default command to itself. */
const hasDefault = (command: Command): boolean =>
  (command as unknown as { _defaultCommandName: string | null })._defaultCommandName !== null;
