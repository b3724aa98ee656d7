import { describe, expect, it } from '@jest/globals';
import { linkTemplateVariable, pageUrlVariable } from './link-variables.ts';

const template = linkTemplateVariable(['request_id', 'trace_id']);

function faultOf(schema: typeof template | typeof pageUrlVariable, text: string) {
  return schema.safeParse(text).error?.issues[0]?.message;
}

describe('the template of a link', () => {
  it.each([
    'https://traces.example.com/trace/{trace_id}',
    'http://localhost:16686/jaeger/trace/{trace_id}?uiEmbed=v0',
    'https://logs.example.com/?q={request_id}&env={environment}&from={from_ms}&to={to_ms}#logs',
    'https://grafana.example.com/explore?panes=%7B%22a%22:%22{trace_id}%22%7D',
    'https://[2001:db8::1]:8443/{trace_id}',
  ])('may be %s', (text) => {
    expect(faultOf(template, text)).toBeUndefined();
  });

  it.each([
    ['javascript:alert({trace_id})', 'must begin with http:// or https://'],
    ['data:text/html,{trace_id}', 'must begin with http:// or https://'],
    ['//traces.example.com/{trace_id}', 'must begin with http:// or https://'],
    ['ftp://traces.example.com/{trace_id}', 'must begin with http:// or https://'],
    ['https://{route}.example.com/{trace_id}', 'must begin with http:// or https:// and a host'],
    ['https://{trace_id}', 'must begin with http:// or https:// and a host'],
    ['https://user:secret@example.com/{trace_id}', 'without a placeholder, user or password'],
    ['https://traces.example.com:{trace_id}/', 'must begin with http:// or https:// and a host'],
    ['https://traces.example.com/', 'must contain {request_id} or {trace_id}'],
    ['https://traces.example.com/{trace_id}/{span}', 'must have no other placeholders than'],
    ['https://traces.example.com/{"a":"{trace_id}"}', 'must be a URL'],
    ['https://traces.example.com/{trace_id}/{', 'must be a URL'],
    ['https://traces.example.com/ {trace_id}', 'must be a URL'],
    ['https://traces.example.com/<b>{trace_id}', 'must be a URL'],
    [`https://traces.example.com/{trace_id}${'a'.repeat(2048)}`, 'must be at most 2048 characters'],
  ])('must not be %s', (text, fault) => {
    expect(faultOf(template, text)).toContain(fault);
  });

  it('is not repeated in the message, because a setting may hold a secret by mistake', () => {
    expect(faultOf(template, 'https://user:hunter2@example.com/{trace_id}')).not.toContain(
      'hunter2',
    );
  });
});

describe('the address of a page', () => {
  it('loses the slash at its end, so that paths can be added', () => {
    expect(pageUrlVariable.parse('https://gateway.example.com/console/')).toBe(
      'https://gateway.example.com/console',
    );
    expect(pageUrlVariable.parse('http://localhost:3000')).toBe('http://localhost:3000');
  });

  it.each([
    'grafana.example.com',
    'javascript:alert(1)',
    'https://admin:secret@grafana.example.com',
    'https://grafana.example.com/?orgId=1',
    'https://grafana.example.com/#a',
    'https://grafana.example.com/{environment}',
  ])('must not be %s', (text) => {
    expect(faultOf(pageUrlVariable, text)).toMatch(/^must /);
  });
});
