import { describe, expect, it } from '@jest/globals';
import { heartbeatOf, UNKNOWN_PROCESS_USE } from '../../test/heartbeat.ts';
import { heartbeatSchema } from './heartbeat.ts';
import type { ProcessUse } from './process-use.ts';

const USE: ProcessUse = {
  process_cpu_ratio: 0.42,
  process_resident_memory_bytes: 222_298_112,
  memory_limit_bytes: 536_870_912,
  event_loop_delay_ms: 12,
};

describe('what a process uses, in a heartbeat', () => {
  it('is read as it was sent, and other unknown fields are ignored', () => {
    const sent = { ...heartbeatOf('dp', USE), of_a_later_release: { any: 'value' } };
    expect(heartbeatSchema.parse(sent)).toEqual(heartbeatOf('dp', USE));
  });

  it('is not known if the data plane is of a release that does not send it', () => {
    const old = Object.entries(heartbeatOf('dp', USE)).filter(([name]) => !(name in USE));
    expect(heartbeatSchema.parse(Object.fromEntries(old))).toEqual(heartbeatOf('dp'));
    expect(heartbeatOf('dp')).toMatchObject(UNKNOWN_PROCESS_USE);
  });

  it.each<[keyof ProcessUse, unknown]>([
    ['process_cpu_ratio', -0.1],
    ['process_cpu_ratio', 5000],
    ['process_cpu_ratio', '0.4'],
    ['process_resident_memory_bytes', -1],
    ['process_resident_memory_bytes', 1.5],
    ['process_resident_memory_bytes', 2 ** 51],
    ['memory_limit_bytes', 0],
    ['memory_limit_bytes', 2 ** 64],
    ['event_loop_delay_ms', -1],
    ['event_loop_delay_ms', 1e12],
    ['event_loop_delay_ms', { ms: 1 }],
  ])('is not known, and costs nothing else, if %s is %p', (field, value) => {
    const sent = { ...heartbeatOf('dp', USE), [field]: value };
    expect(heartbeatSchema.parse(sent)).toEqual(heartbeatOf('dp', { ...USE, [field]: null }));
  });
});
