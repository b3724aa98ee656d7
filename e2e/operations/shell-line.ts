import { spawn } from 'node:child_process';

export interface LineResult {
  readonly code: number | null;
  readonly stdout: string;
}

/** A replacement for `curl`, for machines without it. It supports the options of the printed commands. */
export const CURL = `
  const args = process.argv.slice(1);
  const init = { method: 'GET', headers: {} };
  let url = '';
  let head = false;
  for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
    if (arg === '-sS') continue;
    else if (arg === '-i') head = true;
    else if (arg === '-X') init.method = args.shift();
    else if (arg === '-H') { const [name, value] = args.shift().split(': '); init.headers[name] = value; }
    else if (arg === '-d') { init.body = args.shift(); if (init.method === 'GET') init.method = 'POST'; }
    else url = arg;
  }
  const response = await fetch(url, init);
  if (head) console.log(['HTTP/1.1 ' + response.status, ...[...response.headers].map((h) => h.join(': ')), '', ''].join('\\n'));
  process.stdout.write(await response.text());
`;

/** Defines `curl` in a shell that has none. Its environment has `NODE`, the path of Node, and `CURL`. */
export const CURL_FUNCTION =
  'command -v curl >/dev/null || curl() { "$NODE" --input-type=module -e "$CURL" -- "$@"; }\n';

/** Runs a printed command in a shell, unchanged. A machine without curl gets the replacement. */
export function runLine(line: string): Promise<LineResult> {
  return new Promise((resolve, reject) => {
    const shell = spawn('/bin/sh', ['-c', CURL_FUNCTION + line], {
      env: { PATH: process.env['PATH'], NODE: process.execPath, CURL },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 20_000,
    });
    let stdout = '';
    shell.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    shell.once('error', reject);
    shell.once('close', (code) => resolve({ code, stdout }));
  });
}
