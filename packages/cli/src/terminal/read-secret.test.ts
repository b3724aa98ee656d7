import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { InterruptedError } from '../program/exit-codes.ts';
import { readSecret } from './read-secret.ts';

function prompt() {
  const input = new PassThrough();
  const stderr = new PassThrough().setEncoding('utf8');
  return { input, stderr, answer: readSecret('Token: ', input, stderr) };
}

it('reads a line and shows only the question', async () => {
  const { input, stderr, answer } = prompt();
  input.write('gwt_typed\r');
  await expect(answer).resolves.toBe('gwt_typed');
  expect(stderr.read()).toBe('Token: \n');
});

it('rejects when the user presses ^C', async () => {
  const { input, answer } = prompt();
  input.write('gwt_\u0003');
  await expect(answer).rejects.toBeInstanceOf(InterruptedError);
});
