import { expectRefusal } from '@gateway/shared/test/refusal';
import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../harness/client.ts';
import type { Gateway } from '../../harness/gateway.ts';
import { ENVIRONMENTS, JUST_ROUTES, type Callers } from './callers.ts';
import type { Cells } from './cells.ts';
import {
  CALLERS,
  MANAGEMENT,
  type CallerKind,
  type Expectation,
  type Row,
} from './expectations.ts';
import type { ManagementRow, ManagementRows } from './calls/management-row.ts';
import { removeMade, type ManagementCall } from './fresh-resources.ts';
import { changesSince } from './changes.ts';
import { oneByOne } from './one-by-one.ts';
import { bearing, type Credential } from './states/credential.ts';
import { STATES, type State } from './states/states.ts';

/** Who calls, by the environments that the token covers. */
type Covered = keyof typeof ENVIRONMENTS;

export interface AllowedWorld {
  readonly gateway: Gateway;
  readonly rows: ManagementRows;
  readonly callers: Readonly<Record<Covered, Callers>>;
  readonly states: Readonly<Record<Covered, ReadonlyMap<State, Credential>>>;
  /** The tokens with exactly the required rights that were made so far. */
  readonly justTokens: Map<string, Promise<string>>;
}

interface Entry {
  readonly caller: CallerKind | State;
  readonly expected: Expectation;
}

/** Each endpoint with each kind of caller and each state of its credential. */
export function describeAllowed(world: () => AllowedWorld, cells: Cells): void {
  describe('answers each kind of caller as the table says', () => {
    it.each(MANAGEMENT)('%s', async (...[endpoint, row]: [Row[0], Row[1]]) => {
      const entries = entriesOf(row);
      const faults = await new Endpoint(world(), endpoint).faultsOf(entries);
      cells.add(entries.length);
      expect(faults).toEqual([]);
    });
  });
}

function entriesOf(cells: Row[1]): readonly Entry[] {
  const expectedOf = (caller: CallerKind) => cells.get(caller) ?? 'x';
  const ofCallers = CALLERS.map((caller) => ({ caller, expected: expectedOf(caller) }));
  const ofStates = (Object.keys(STATES) as State[]).map((caller) => {
    const expectedBy = {
      live: 'ok',
      grace: expectedOf('with a secret within its grace'),
      ended: expectedOf('without a token'),
    } as const;
    return { caller, expected: expectedBy[STATES[caller]] };
  });
  return [...ofCallers, ...ofStates];
}

let calls = 0;

/** The calls of one endpoint, and what must have changed. */
class Endpoint {
  readonly #world: AllowedWorld;
  readonly #endpoint: string;
  readonly #method: string;
  readonly #row: ManagementRow;
  /** The actions that the audit events must have, by request id. */
  readonly #actions = new Map<string, readonly string[]>();
  readonly #faults: string[] = [];
  readonly #startedMs = Date.now();

  constructor(world: AllowedWorld, endpoint: string) {
    const row = world.rows[endpoint];
    if (row === undefined) throw new Error(`the matrix does not say how to call ${endpoint}`);
    this.#world = world;
    this.#endpoint = endpoint;
    [this.#method = ''] = endpoint.split(' ');
    this.#row = row;
  }

  async faultsOf(entries: readonly Entry[]): Promise<readonly string[]> {
    // A call that is refused or reads changes nothing, so these are sent at the same time, on the same resources.
    const isRead = this.#row.action === undefined;
    const changing = entries.filter(({ expected }) => expected !== 'x' && !isRead);
    const others = entries.filter((entry) => !changing.includes(entry));
    const call = await this.#row.call();
    await Promise.all(others.map((entry) => this.#check(entry, call)));
    await call.cleanUp?.();
    const change = async (entry: Entry) => {
      const own = await this.#row.call();
      await removeMade(this.#world.gateway.admin, await this.#check(entry, own));
      await own.cleanUp?.();
    };
    await (this.#row.alone ? oneByOne(changing, change) : Promise.all(changing.map(change)));
    await this.#checkChanges();
    return this.#faults;
  }

  async #check({ caller, expected }: Entry, call: ManagementCall): Promise<Answer> {
    const answer = await this.#send(await this.#credentialOf(caller), call);
    const { status: success, lists, action = [] } = this.#row;
    try {
      if (expected === 'x') await expectRefusal(answer, 401, 'authentication_failed');
      else if (expected === '204') expect([answer.status, answer.body]).toEqual([204, '']);
      else expect([answer.status, answer.body]).toEqual([success, expect.any(String)]);
      if (expected !== 'x' && lists !== undefined) {
        expect(answer.body.includes(JSON.stringify(lists))).toBe(expected === 'ok');
      }
    } catch (error) {
      const what = `${this.#endpoint}, a caller ${caller}, expected ${expected}`;
      this.#faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const id = answer.headers.get('x-request-id') ?? '';
    this.#actions.set(id, ['ok', '204'].includes(expected) ? [action].flat() : []);
    return answer;
  }

  async #credentialOf(caller: CallerKind | State): Promise<Credential> {
    const { callers, states } = this.#world;
    const covered = this.#row.environments ?? 'production';
    const state = states[covered].get(caller as State);
    if (state !== undefined) return state;
    if (caller === 'with exactly the required rights') return bearing(await this.#justToken());
    return bearing(callers[covered].get(caller as CallerKind) ?? null);
  }

  /** Endpoints that need the same rights share a token. */
  #justToken(): Promise<string> {
    const { environments = 'production', routes, scopes } = this.#row;
    const rights = {
      environments: ENVIRONMENTS[environments],
      routes: routes === 'all' ? ['*'] : JUST_ROUTES,
      scopes,
    };
    const key = JSON.stringify(rights);
    const { gateway, justTokens } = this.#world;
    const made = justTokens.get(key) ?? gateway.tokenClient(rights).then(({ token }) => token);
    justTokens.set(key, made);
    return made;
  }

  #send({ headers, prefix }: Credential, { path, body }: ManagementCall): Promise<Answer> {
    // Alternates between the data plane and the control plane.
    const { gateway } = this.#world;
    const planes = [gateway.controlPlane, ...gateway.dataPlanes];
    const { baseUrl = '' } = planes[(calls += 1) % planes.length] ?? {};
    const client = gateway.admin.at(baseUrl);
    return client.call(this.#method, prefix + path, { token: null, headers, body });
  }

  async #checkChanges(): Promise<void> {
    const changes = await changesSince(this.#world.gateway.admin, this.#startedMs);
    const found = [...this.#actions.keys()].map((id) => [id, changes.get(id) ?? []]);
    const [got, expected] = [found, [...this.#actions]].map((list) => JSON.stringify(list));
    if (got === expected) return;
    this.#faults.push(`${this.#endpoint}: changes ${got ?? ''}, expected ${expected ?? ''}`);
  }
}
