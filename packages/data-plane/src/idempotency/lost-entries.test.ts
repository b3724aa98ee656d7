import { describe, expect, it } from '@jest/globals';
import type { Claim } from './claim.ts';
import { responseOf, createKeyWorld } from '../../test/idempotency/key-world.ts';

describe('a key whose store loses its entries while the request runs', () => {
  const lost = async () => {
    const world = createKeyWorld();
    const [owner, other] = [world.node(), world.node()];
    const claim = await owner.run({ requestId: 'req_first' });
    owner.store.fault = () => 'refused';
    await world.pass(6000);
    world.memory.loseAll();
    owner.store.fault = () => undefined;
    return { world, claim, owner, other };
  };

  it('is claimed again soon after the store is back: a duplicate waits', async () => {
    const { world, claim, other } = await lost();
    await world.pass(300);
    const duplicate = other.begin();
    await world.pass(1000);
    claim.completed(responseOf('once'));
    await world.pass(500);
    expect(await duplicate).toMatchObject({ kind: 'replay', firstId: 'req_first' });
  });

  it.each([
    [{ kind: 'replay' }, (claim: Claim) => claim.completed(responseOf('once'))],
    [{ why: 'outcome_unknown' }, (claim: Claim) => claim.outcomeUnknown()],
    [{ kind: 'run' }, (claim: Claim) => claim.unsent()],
  ])('has the outcome that is stored before it is claimed again: %j', async (expected, end) => {
    const { world, claim, owner, other } = await lost();
    end(claim);
    await world.pass(100);
    expect(owner.counted.get('lost')).toBeUndefined();
    expect(await other.begin()).toMatchObject(expected);
  });

  it('stays with another that claimed it at the same revision', async () => {
    const world = createKeyWorld();
    const [owner, other] = [world.node(), world.node()];
    const claim = await owner.run();
    world.memory.loseAll();
    owner.store.losses += 1;
    await other.run({ requestId: 'req_second' });
    claim.completed(responseOf('first'));
    await world.pass(100);
    expect(owner.counted.get('lost')).toBe(1);
  });

  it('stays with another that claimed it meanwhile', async () => {
    const { world, claim, owner, other } = await lost();
    const second = await other.run();
    await world.pass(3000);
    claim.completed(responseOf('first'));
    await world.pass(500);
    expect(owner.counted.get('lost')).toBe(1);
    second.completed(responseOf('second'));
    await world.pass(500);
    expect(await other.begin()).toMatchObject({ kind: 'replay', response: responseOf('second') });
  });
});
