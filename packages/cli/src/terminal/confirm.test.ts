import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { InterruptedError } from '../program/exit-codes.ts';
import { confirm } from './confirm.ts';

function asked() {
  const stdin = new PassThrough();
  const stderr = new PassThrough().setEncoding('utf8');
  const pressed = new AbortController();
  const answer = confirm('Delete it?', { stdin, stderr }, pressed.signal);
  return { stdin, stderr, pressed, answer };
}

it.each([
  ['y', true],
  ['YES', true],
  ['n', false],
  ['', false],
  ['yesterday', false],
])('%j means %s', async (typed, expected) => {
  const { stdin, stderr, answer } = asked();
  stdin.write(`${typed}\n`);
  await expect(answer).resolves.toBe(expected);
  expect(stderr.read()).toBe('Delete it? [y/N] ');
});

it('rejects after ^C and at the end of stdin', async () => {
  const interrupted = asked();
  interrupted.pressed.abort();
  await expect(interrupted.answer).rejects.toBeInstanceOf(InterruptedError);
  const ended = asked();
  ended.stdin.end();
  await expect(ended.answer).rejects.toBeInstanceOf(InterruptedError);
});
