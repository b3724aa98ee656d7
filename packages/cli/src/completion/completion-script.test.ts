import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { wholeProgram } from '../program.ts';
import { createCli } from '../session.ts';
import { fakeTerminal } from '../../test/fake-terminal.ts';
import { completionScript } from './completion-script.ts';

const program = await wholeProgram(createCli(fakeTerminal()));

/** What bash offers for the last of these words. */
function complete(...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _gwctl; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split(' ');
}

it('completes commands, options and their values', () => {
  expect(complete('gwctl', 'con')).toEqual(['contexts', 'convert']);
  expect(complete('gwctl', 'contexts', '')).toEqual(expect.arrayContaining(['list', 'use']));
  expect(complete('gwctl', 'login', '--u')).toEqual(['--url']);
  expect(complete('gwctl', 'contexts', 'list', '-o', 'j')).toEqual(['json', 'jsonpath=']);
  expect(complete('gwctl', 'completion', 'f')).toEqual(['fish']);
  expect(complete('gwctl', '-o', 'json', 'services', 'l')).toEqual(['list']);
  expect(complete('gwctl', 'stats', '--step', '6')).toEqual(['6h']);
});

/** As `complete`; `names` is what gwctl prints when the script asks for names. */
function completeNames(names: string, ...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript(program, 'bash')}
gwctl() { echo "asked: $*" >&2; printf '%s' "$NAMES"; }
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _gwctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, NAMES: names },
  });
  return [stderr.trim(), ...stdout.trim().split('\n')];
}

it('asks gwctl for the names of routes, services, tokens, environments and contexts', () => {
  const names = 'charges\ncharge-backs\nrefunds\n';
  // What the script asks for is on stderr, which the script itself hides.
  expect(completeNames(names, 'gwctl', 'routes', 'get', 'cha')).toEqual([
    '',
    'charges',
    'charge-backs',
  ]);
  expect(completeNames(names, 'gwctl', 'route', 'rm', 're')).toEqual(['', 'refunds']);
  expect(completeNames(names, 'gwctl', 'stats', '--environment', 're')).toEqual(['', 'refunds']);
  expect(completeNames(names, 'gwctl', 'contexts', 'use', 're')).toEqual(['', 'refunds']);
  expect(completeNames(names, 'gwctl', 'routes', 'get', '--con')).toEqual(['', '--context']);
});

it('never runs what a name contains', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-completion-'));
  const file = path.join(folder, 'made');
  const hostile = `a$(touch ${file})\na\`touch ${file}\`\na b; touch ${file}\n`;
  const [, ...offered] = completeNames(hostile, 'gwctl', 'tokens', 'get', 'a');
  expect(offered).toHaveLength(3);
  expect(offered[2]).toBe(`a\\ b\\;\\ touch\\ ${file}`);
  expect(existsSync(file)).toBe(false);
  rmSync(folder, { recursive: true });
});

it('completes files after an option that takes one, and nothing where any text may stand', () => {
  expect(complete('gwctl', 'routes', 'create', '-f', 'packages/cli/pack')).toEqual([
    'packages/cli/package.json',
  ]);
  expect(complete('gwctl', 'routes', 'list', '--search', '')).toEqual(['']);
});

it.each([
  ['bash', '-n'],
  ['zsh', '-n'],
  ['fish', '--no-execute'],
] as const)('makes a script for %s without syntax errors', (shell, option) => {
  // A machine without the shell has nothing to check.
  if (spawnSync(shell, ['--version']).error) return;
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-completion-'));
  const file = path.join(folder, `gwctl.${shell}`);
  writeFileSync(file, completionScript(program, shell));
  const { status, stderr } = spawnSync(shell, [option, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

it('has every command in the script of each shell', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    expect(completionScript(program, shell)).toContain('gwctl contexts delete');
  }
});
