import { expect, it } from '@jest/globals';
import { runInProcess } from '../../test/run-in-process.ts';

const run = (line: string) => runInProcess(line === '' ? [] : line.split(' '));

it.each([
  ['', 'gwctl'],
  ['help', 'gwctl'],
  ['--help', 'gwctl'],
  ['-o json help', 'gwctl'],
  ['routes', 'gwctl routes|route'],
  ['route', 'gwctl routes|route'],
  ['help routes', 'gwctl routes|route'],
  ['routes help', 'gwctl routes|route'],
  ['routes --help', 'gwctl routes|route'],
  ['help routes create', 'gwctl routes create'],
  ['help --environment help routes create', 'gwctl routes create'],
  ['routes help create', 'gwctl routes create'],
  ['routes create --help', 'gwctl routes create'],
  ['help routes ls', 'gwctl routes list|ls'],
  ['routes list help', 'gwctl routes list|ls'],
  ['whoami help', 'gwctl whoami'],
  ['help versions', 'gwctl versions|version'],
])('gwctl %s shows help on stdout', async (line, shown) => {
  const { code, stdout, stderr } = await run(line);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Usage: ${shown} `);
});

it.each([
  ['rotes list', 'gwctl has no command rotes; did you mean routes?'],
  ['rout list', 'gwctl has no command rout; did you mean routes?'],
  ['routes lst', 'gwctl routes has no command lst; did you mean list?'],
  ['help rotes', 'gwctl has no command rotes; did you mean routes?'],
  ['versions dif', 'gwctl versions has no command dif; did you mean diff?'],
  ['zzz', 'gwctl has no command zzz\n'],
  ['routes list --servce x', "gwctl: unknown option '--servce'; did you mean --service?\n"],
  [
    '--enviroment x routes list',
    "gwctl: unknown option '--enviroment'; did you mean --environment?\n",
  ],
  [
    '-o jsn whoami',
    'It must be one of table, wide, json, yaml, name, jsonpath=<path>, custom-columns=<columns>.',
  ],
])('gwctl %s says what was meant', async (line, message) => {
  const { code, stdout, stderr } = await run(line);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(message);
});

it('takes a resource by the name help where a name is due', async () => {
  // It gets as far as to look for a gateway.
  expect((await run('routes get help')).stderr).toContain('no gateway is selected');
});
