import { readdirSync, readFileSync } from 'node:fs';

/** The ids of the running children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
}

/** Whether the process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The value of a metric of one worker, or of the primary. */
export async function metricOf(
  adminUrl: string,
  name: string,
  worker: string,
  labels = '',
): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const own = `${labels}${labels === '' ? '' : ','}worker="${worker}"`;
  const line = text.split('\n').find((one) => one.startsWith(`${name}{${own}} `));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? Number.NaN);
}
