import { randomBytes } from 'node:crypto';
import { describe, expect, it, test } from '@jest/globals';
import { parseEnvironment } from '../config/environment.ts';
import { z } from 'zod';
import { otlpVariables } from './otlp-variables.ts';
import { createSampler } from './sampler.ts';

const settings = (name?: string, ratio?: string) =>
  parseEnvironment(z.object(otlpVariables), {
    OTEL_TRACES_SAMPLER: name,
    OTEL_TRACES_SAMPLER_ARG: ratio,
  });
const sampler = (name?: string, ratio?: string) => createSampler(settings(name, ratio));
/** A trace id whose random part, the last 14 digits, is this. */
const idWith = (random: string) => 'f'.repeat(18) + random.padEnd(14, '0');

describe('the sampler', () => {
  it('does not exist by default', () => {
    expect(sampler()).toBeUndefined();
  });

  test.each([
    ['always_on', [true, true, true]],
    ['traceidratio', [true, true, true]],
    ['parentbased_always_on', [true, false, true]],
    ['parentbased_always_off', [true, false, false]],
    ['parentbased_traceidratio', [true, false, true]],
  ])('%s decides for a sampled parent, an unsampled one and none', (name, decisions) => {
    const sample = sampler(name);
    const id = idWith('8');
    expect([true, false, undefined].map((parent) => sample?.(id, parent))).toEqual(decisions);
  });

  test.each([
    ['0.5', '7fffffffffffff', false],
    ['0.5', '80000000000000', true],
    ['0.01', 'fd70a3d70a3d6f', false],
    ['0.01', 'fd70a3d70a3d80', true],
    ['1', '00000000000000', true],
    ['0', 'ffffffffffffff', false],
    ['0.0000000000000000001', 'fffffffffffff0', true],
    ['0.0000000000000000001', 'ffffffffffffef', false],
  ])('a ratio of %s and the random part %s: %s', (ratio, random, sampled) => {
    expect(sampler('traceidratio', ratio)?.(idWith(random), undefined)).toBe(sampled);
  });

  it('takes its share of random traces', () => {
    const sample = sampler('traceidratio', '0.1');
    let taken = 0;
    for (let count = 0; count < 20_000; count += 1) {
      if (sample?.(randomBytes(16).toString('hex'), undefined) === true) taken += 1;
    }
    // Ten standard deviations.
    expect(Math.abs(taken - 2000)).toBeLessThan(425);
  });
});

describe('settings of OpenTelemetry', () => {
  const parse = (given: Record<string, string>) => parseEnvironment(z.object(otlpVariables), given);

  it('have pairs with percent-encoded values', () => {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers } = parse({
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb=c, x-tenant = t',
    });
    expect(headers).toEqual({ 'api-key': 'a,b=c', 'x-tenant': 't' });
  });

  test.each([
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'must be one of'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.01', 'must be a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', 'must be a number from 0 to 1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-value', 'pairs key=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', 'percent-encoded'],
    ['OTEL_METRICS_EXPORTER', 'prometheus', 'must be none or otlp'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be an http or https URL'],
  ])('%s refuses %s', (name, value, rule) => {
    expect(() => parse({ [name]: value })).toThrow(rule);
  });
});
