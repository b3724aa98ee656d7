import path from 'node:path';
import { command, names, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { scoped } from '../lab/run.ts';
import { CONNECTIONS, runWrk } from '../load/wrk.ts';
import { measureLoad } from '../measure/round.ts';
import { takeTurns } from '../measure/turns.ts';
import { gatewayRows } from '../peers/gateway.ts';
import { named } from '../peers/peer.ts';
import { log } from '../lab/log.ts';
import { formatComparison, type Compared } from './comparison.ts';

const WARM_UP_SECONDS = 10;

/** Loads the gateways of two checkouts in turn, a second each, row by row, and prints a table. */
export const compare = command({
  name: 'compare',
  summary: 'CPU time and memory of the gateway of another checkout beside this one',
  argument: '<the other checkout, with its packages installed>',
  options: {
    only: names('compare these rows, such as gateway'),
    rounds: whole(40, [1, 200], 'measured seconds of each checkout for each row'),
  },
  async run(run, { only, rounds }, [folder = '.']) {
    const here = named(gatewayRows(), only);
    const there = named(gatewayRows({ checkout: path.resolve(folder) }), only);
    const lab = await startLab(run);
    const { cores, signal } = lab;
    const compared: Compared[] = [];
    for (const [index, kind] of here.entries()) {
      log(kind.name);
      await scoped(lab, async (part) => {
        const before = await (there[index] ?? kind).start(part);
        const after = await kind.start(part);
        for (const peer of [before, after]) {
          await runWrk(peer, { seconds: WARM_UP_SECONDS }, signal);
        }
        const results = await takeTurns([before, after], {
          rounds,
          alternate: true,
          nameOf: (peer) => `${peer.name} ${peer === before ? 'there' : 'here'}`,
          measure: (peer) =>
            measureLoad([peer.pid], cores.measured, () => runWrk(peer, { seconds: 1 }, signal)),
        });
        const [inOther = [], inThis = []] = results.values();
        compared.push({ name: kind.name, there: inOther, here: inThis });
      });
    }
    process.stdout.write(
      `${formatComparison(compared)}\n\n` +
        `${rounds} seconds of each, in turn, ${CONNECTIONS} connections, as many requests as each answers.\n`,
    );
    const all = compared.flatMap((row) => [...row.there, ...row.here]);
    if (all.some(({ failed }) => failed > 0)) throw new Error('some responses were not 2xx');
  },
});
