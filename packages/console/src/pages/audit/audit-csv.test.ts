import { describe, expect, it } from '@jest/globals';
import type { AuditEvent } from '../../api/client.ts';
import { auditCsv } from './audit-csv.ts';

const event = (changes: Partial<AuditEvent>): AuditEvent => ({
  id: 'aud_1',
  occurred_at: '2026-03-01T09:00:00.000Z',
  action: 'route.updated',
  resource_type: 'route',
  resource_id: 'rte_1',
  environments: ['production'],
  token_id: 'tok_1',
  client_ip: '203.0.113.7',
  request_id: 'req_1',
  before: { name: 'charges', timeout_ms: 7000 },
  after: { name: 'charges', timeout_ms: 6000 },
  ...changes,
});
const linesOf = (events: readonly AuditEvent[], name = 'ana') =>
  auditCsv(events, () => name)
    .split('\r\n')
    .slice(1, -1);

describe('the audit log as CSV', () => {
  it('has a line for each change, with the fields that differ', () => {
    const [head] = auditCsv([], () => '').split('\r\n');
    expect(head).toBe(
      'time,person,token_id,action,resource_type,resource,resource_id,environments,changes,client_ip,request_id',
    );
    expect(linesOf([event({})])).toEqual([
      '2026-03-01T09:00:00.000Z,ana,tok_1,updated,route,charges,rte_1,production,timeout_ms: 7000 -> 6000,203.0.113.7,req_1',
    ]);
    const own = event({ token_id: null, client_ip: null, request_id: null, before: null });
    expect(linesOf([own])).toEqual([
      '2026-03-01T09:00:00.000Z,the gateway,,updated,route,charges,rte_1,production,,,',
    ]);
  });

  it('quotes what would end a cell, and has no cell that a program takes for a formula', () => {
    const hostile = event({ after: { name: '=HYPERLINK("http://x","a")' }, before: null });
    const [line] = linesOf([hostile], 'a,"b"\nc');
    expect(line).toContain('"a,""b""\nc"');
    expect(line).toContain(`"'=HYPERLINK(""http://x"",""a"")"`);
    expect(linesOf([event({})], '@SUM(1)')[0]).toContain(`,'@SUM(1),`);
  });
});
