import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Registry } from 'prom-client';
import type { CompiledService } from '../routing-table/routing-table.ts';
import { Overloads } from './overloads.ts';

const service = (id: string) => ({ id, name: `name of ${id}` }) as CompiledService;

describe('the services that were overloaded lately', () => {
  it('are those that refused a request in the last ten seconds', () => {
    const clock = manualClock();
    const overloads = new Overloads(new Registry(), clock);
    expect(overloads.reasons()).toEqual([]);
    overloads.refuseForService(service('svc_1'), 'max_in_flight', 1);
    clock.advance(6_000);
    overloads.refuseForService(service('svc_2'), 'max_pending', 1);
    expect(overloads.recent()).toEqual(['svc_1', 'svc_2']);
    expect(overloads.reasons()).toEqual([
      'services that refuse requests at a limit: name of svc_1 (svc_1), name of svc_2 (svc_2)',
    ]);
    clock.advance(6_000);
    expect(overloads.recent()).toEqual(['svc_2']);
    clock.advance(6_000);
    expect(overloads.reasons()).toEqual([]);
  });

  it('are not all named in the reason', () => {
    const overloads = new Overloads(new Registry(), manualClock());
    for (let id = 0; id < 30; id += 1)
      overloads.refuseForService(service(`s${id}`), 'max_in_flight', 1);
    const shown = Array.from({ length: 10 }, (_, id) => `name of s${id} (s${id})`).join(', ');
    expect(overloads.reasons()).toEqual([
      `services that refuse requests at a limit: ${shown} and more`,
    ]);
  });
});
