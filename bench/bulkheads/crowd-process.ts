/**
 * Runs crowds of callers in a process of its own, so that their cost does not count as the gateway's. The only argument
 * is the crowds as JSON. On a message it answers with what the callers got. It ends when the channel to its parent
 * closes.
 */
import { startCrowd, type CrowdOptions } from '@gateway/testing/crowd';

const options = JSON.parse(process.argv[2] ?? '') as CrowdOptions[];
const crowds = options.map((one) => startCrowd(one, Math.random));
process.on('message', () => {
  process.send?.(crowds.map(({ statuses }) => Object.fromEntries(statuses)));
});
process.on('disconnect', () => process.exit(0));
