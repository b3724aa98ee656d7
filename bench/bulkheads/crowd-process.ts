/**
 * Runs crowds of callers in a process of its own, so that their cost does not count as the gateway's. The only argument
 * is the crowds as JSON. On a message it answers with what the callers got. It ends when the channel to its parent
 * closes.
 */
import { startCrowd, type CrowdOptions } from '@gateway/testing/crowd';

/** What the callers of one crowd got. */
export interface CrowdReport {
  readonly open: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const options = JSON.parse(process.argv[2] ?? '') as CrowdOptions[];
const crowds = options.map((one) => startCrowd(one, Math.random));
process.on('message', () => {
  const report: CrowdReport[] = crowds.map(({ open, statuses }) => {
    return { open, statuses: Object.fromEntries(statuses) };
  });
  process.send?.(report);
});
process.on('disconnect', () => process.exit(0));
