import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { counts, newAppliedEnvironment, summaryOf } from '../../../test/applied-environment.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

describe('a document with 1000 routes', () => {
  it('is applied as a whole, and again without a change', async () => {
    const { name, apply, changes } = await newAppliedEnvironment(api);
    const services = Array.from({ length: 20 }, (_, at) => ({
      name: `service-${at}`,
      url: `http://s${at}.example`,
    }));
    const routesOf = (timeout_ms: number) =>
      Array.from({ length: 1000 }, (_, at) => ({
        name: `route-${at}`,
        service: `service-${at % 20}`,
        timeout_ms,
      }));
    const timed = async (body: object) => {
      const startedMs = performance.now();
      const answer = await apply(body);
      expect(answer.status).toBe(200);
      const tookMs = performance.now() - startedMs;
      if (process.env['TEST_LOG']) process.stderr.write(`1000 routes: ${Math.round(tookMs)} ms\n`);
      return answer;
    };
    const created = await timed({ services, routes: routesOf(5000) });
    expect(summaryOf(created)).toMatchObject({ routes: counts(1000) });
    expect(await changes()).toHaveLength(1020);
    await api.publish(name);
    const again = await timed({ services, routes: routesOf(5000) });
    expect(summaryOf(again)).toMatchObject({ changed: false, routes: counts(0, 0, 0, 1000) });
    expect(summaryOf(await timed({ services, routes: routesOf(4000) }))).toMatchObject({
      routes: counts(0, 1000),
    });
    expect(summaryOf(await timed({ services: [], routes: [], prune: true }))).toMatchObject({
      services: counts(0, 0, 20),
      routes: counts(0, 0, 1000),
    });
  });
});
