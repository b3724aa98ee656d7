import { command, flag, whole } from '../command.ts';
import { scoped } from '../lab/run.ts';
import { named } from '../peers/peer.ts';
import { writeSection } from '../report/document.ts';
import { log } from '../lab/log.ts';
import { changes } from './changes.ts';
import { chartOf, tableOf } from './curve.ts';
import { loadCurves } from './load-curves.ts';
import { recordLookups } from './record-lookups.ts';

/** The page that has a section for each curve. */
const PAGE = new URL('../../docs/understand/growth.md', import.meta.url);

/** Measures the chosen curves one after the other; prints and writes each as soon as it is measured. */
export const curves = command({
  name: 'curves',
  summary: 'how costs grow, as charts: over routes and other sizes',
  argument: '[names, such as routes]',
  options: {
    rounds: whole(undefined, [1, 1000], 'rounds, changes or lookups of each point'),
    write: flag('write the sections of docs/understand/growth.md'),
  },
  async run(run, { rounds, write }, names) {
    for (const curve of named([...loadCurves, changes, recordLookups], names)) {
      log(`measuring ${curve.name}`);
      const series = await scoped(run, (part) => curve.measure(part, rounds));
      const table = tableOf(curve, series);
      process.stdout.write(`${curve.title}\n\n${table}\n\n`);
      const section = curve.isWide === true ? table : chartOf(curve, series);
      if (write) await writeSection(PAGE, curve.name, section);
    }
  },
});
