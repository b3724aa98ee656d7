import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { anyStep, WAYS, type Step } from '../../../test/every-way/any-step.ts';
import { MAKE } from '../../../test/every-way/ways.ts';
import { applyExport, checkHistory, compare, type World } from '../../../test/every-way/world.ts';

const SEQUENCES = 16;

let api: TestApi;
let environments = 0;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

async function newWorld(): Promise<World> {
  const environment = `every-way-${(environments += 1)}`;
  await api.call('POST', '/v1/environments', { body: { name: environment } });
  const versions = new Map([[await api.publish(environment), []]]);
  return { api, environment, state: [], versions, ids: new Map(), highest: new Map() };
}

/** Makes the change of a step. @returns whether there was one to make */
async function make(world: World, step: Step): Promise<boolean> {
  api.clock.advance(1000);
  const made = await MAKE[step.way](world, step);
  if (made === undefined) return false;
  const { answer, status, state } = made;
  const text = answer?.status === status ? '' : answer?.text;
  if (answer !== undefined) expect([step.way, answer.status, text]).toEqual([step.way, status, '']);
  world.state = state;
  await compare(world);
  if (step.pick % 2 === 0) world.versions.set(await api.publish(world.environment), state);
  return true;
}

const FIRST: Step = {
  way: 'POST',
  kind: 'service',
  pick: 0,
  name: 'a',
  isRenamed: false,
  service: { url: 'http://a.example' },
  route: {},
  services: null,
  routes: null,
  prune: false,
};
/** Few random changes can be reverted; this one is, in every run. */
const REVERTED: Step[] = [
  FIRST,
  { ...FIRST, way: 'PATCH', service: { health_path: '/up' } },
  { ...FIRST, way: 'revert' },
];

it('services and routes are what a simple model says, whatever changes are made by whatever ways', async () => {
  const made = new Set<string>();
  const sequence = fc.array(anyStep, { minLength: 14, maxLength: 26, size: 'max' });
  const property = fc.asyncProperty(sequence, async (steps) => {
    const world = await newWorld();
    for (const step of steps) if (await make(world, step)) made.add(step.way);
    await applyExport(world);
    await checkHistory(world);
  });
  // The limit is for the search of a small counterexample.
  await fc.assert(property, {
    numRuns: SEQUENCES,
    examples: [[REVERTED]],
    plugins: [fc.interruptAfterTimeLimit(45_000)],
  });
  expect([...made].toSorted()).toEqual(WAYS.toSorted());
});
