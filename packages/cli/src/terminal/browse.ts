import { spawn } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Opens a URL in the browser of the user: the program of `BROWSER`, or that of the system. Resolves with whether one was
 * started. No shell reads the URL.
 */
export function browse(url: string, env: Env, platform = process.platform): Promise<boolean> {
  const command = browserCommand(env, platform);
  if (command === undefined) return Promise.resolve(false);
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/** undefined: nobody sees a window, as on a server. */
export function browserCommand(env: Env, platform: string): readonly string[] | undefined {
  const own = env['BROWSER'] ?? '';
  if (own !== '') return own.split(' ');
  if (platform === 'darwin') return ['open'];
  // `start` is a command of the shell of Windows, which would read the URL.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  return hasDisplay ? ['xdg-open'] : undefined;
}
