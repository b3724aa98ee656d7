// One child in the foreground whose signals and end are ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command with this terminal and resolves with `{code}` or `{signal: {name, number}}`, and
 * with `interrupted`, the first signal that we were sent meanwhile.
 * Every SIGINT, SIGTERM and SIGHUP from before the spawn until the end reaches the child; a child
 * that also got the terminal's own Ctrl-C sees it twice and must bear that.
 *
 * With `wholeGroup` the signals go to the child and to all that it started: npx forwards to a shell
 * that dies of them and leaves the program below it running.
 */
export function runForeground(command, args, { cwd, env, stdin, wholeGroup = false }) {
  return new Promise((resolve) => {
    let child;
    let interrupted;
    const describe = (name) => ({ name, number: constants.signals[name] });
    const forward = (name) => {
      interrupted ??= describe(name);
      if (!wholeGroup) child?.kill(name);
      else if (child?.pid && child.exitCode === null) process.kill(-child.pid, name);
    };
    const handlers = forwarded.map((name) => [name, () => forward(name)]);
    for (const [name, handler] of handlers) process.on(name, handler);
    const end = (result) => {
      for (const [name, handler] of handlers) process.off(name, handler);
      resolve(result);
    };
    child = spawn(command, args, {
      cwd,
      env,
      stdio: [stdin, 'inherit', 'inherit'],
      detached: wholeGroup,
    });
    child.once('error', (error) => {
      process.stderr.write(`gateway: ${command} could not be run: ${error.message}\n`);
      end({ code: 1 });
    });
    child.once('exit', (code, name) => {
      end({ interrupted, ...(name ? { signal: describe(name) } : { code }) });
    });
  });
}
