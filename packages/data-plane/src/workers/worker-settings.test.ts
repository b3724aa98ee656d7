import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../config.ts';
import { folderOfWorker, settingsOfWorker, workerOfFolder } from './worker-settings.ts';

const KEYS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const read = (environment: Record<string, string>) =>
  readConfig({ GATEWAY_MASTER_KEYS: KEYS, DATA_PLANE_ID: 'dp', ...environment });

describe('the settings of a worker', () => {
  it('contain an id and a folder of its own', () => {
    const config = read({ WORKERS: '3', DATA_PLANE_DATA_DIR: '/data' });
    const workers = [1, 2, 3].map((worker) => settingsOfWorker(config, worker));
    expect(workers.map((one) => one.DATA_PLANE_ID)).toEqual(['dp.1', 'dp.2', 'dp.3']);
    const folders = workers.map((one) => one.DATA_PLANE_DATA_DIR);
    expect(folders).toEqual(['/data', '/data/worker-2', '/data/worker-3']);
  });

  it('divide the limits of the group, with at least one for each worker', () => {
    const config = read({ WORKERS: '4', MAX_IN_FLIGHT_REQUESTS: '10', MAX_CONNECTIONS: '1' });
    const { MAX_IN_FLIGHT_REQUESTS, MAX_CONNECTIONS, AUTH_FAILURE_LIMIT } = settingsOfWorker(
      config,
      2,
    );
    expect([MAX_IN_FLIGHT_REQUESTS, MAX_CONNECTIONS]).toEqual([3, 1]);
    expect(AUTH_FAILURE_LIMIT).toBe(config.AUTH_FAILURE_LIMIT);
  });

  it('never exceed the length of an id', () => {
    expect(() => read({ WORKERS: '2', DATA_PLANE_ID: 'a'.repeat(62) })).toThrow(
      /^DATA_PLANE_ID: [^\n;]+$/,
    );
    expect(read({ WORKERS: '1', DATA_PLANE_ID: 'a'.repeat(64) }).WORKERS).toBe(1);
  });

  it('contain a folder whose name gives the number of the worker', () => {
    expect(['worker-2', 'worker-12', 'worker-', 'spool', 'worker-1x'].map(workerOfFolder)).toEqual([
      2,
      12,
      undefined,
      undefined,
      undefined,
    ]);
    expect(folderOfWorker('data', 12)).toBe('data/worker-12');
  });
});
