import type { Command } from 'commander';
import { wholeProgram } from '../src/program.ts';
import { createCli } from '../src/session.ts';
import { fakeTerminal } from './fake-terminal.ts';

/** The reference of gwctl: a page for each group of commands, made of their help. The key is the name of the file. */
export async function commandPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string[]>();
  const program = await wholeProgram(createCli(fakeTerminal()));
  for (const command of program.commands.filter((one) => !one.name().startsWith('_'))) {
    const title = command.helpGroup().replace(/:$/, '');
    const file = `${title.toLowerCase().replaceAll(' ', '-')}.md`;
    const sections = pages.get(file) ?? [`# gwctl: ${title}`, INTRODUCTION];
    pages.set(file, [...sections, ...sectionsOf(command)]);
  }
  return new Map([...pages].map(([file, sections]) => [file, `${sections.join('\n\n')}\n`]));
}

const INTRODUCTION =
  'Generated from the commands by `npm run generate`. [gwctl](../gwctl.md) is the introduction.';

/** A section for each command that runs; a command that only has others has none. */
function sectionsOf(command: Command): string[] {
  if (command.commands.length > 0) return command.commands.flatMap(sectionsOf);
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  const help: string[] = [];
  command.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp();
  return [`## ${names.join(' ')}`, `\`\`\`text\n${help.join('').trimEnd()}\n\`\`\``];
}
