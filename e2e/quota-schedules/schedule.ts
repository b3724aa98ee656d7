import fc from 'fast-check';

/** The data planes of each run. */
export const DATA_PLANES = 3;

/** What breaks, and for how long. */
export type Fault =
  | { readonly what: 'nats_killed' | 'nats_paused'; readonly forMs: number }
  | {
      readonly what: 'link_cut';
      readonly dataPlane: number;
      readonly how: 'refused' | 'black_hole' | 'stalled';
      readonly forMs: number;
    }
  /** Killed and started again; without its data folder it has a new id too. */
  | {
      readonly what: 'data_plane_killed';
      readonly dataPlane: number;
      readonly folder: 'kept' | 'gone';
      readonly forMs: number;
    }
  | { readonly what: 'data_plane_paused'; readonly dataPlane: number; readonly forMs: number }
  /** One server of a NATS cluster: the one that leads the quotas, or another one. */
  | {
      readonly what: 'nats_server_killed' | 'nats_server_paused';
      readonly leads: boolean;
      readonly forMs: number;
    };

/** Faults one after another, each some time after the end of the one before. */
export type FaultSequence = readonly (readonly [afterMs: number, fault: Fault])[];

export const KINDS = [
  'NATS killed',
  'NATS paused',
  'link cut',
  'several',
  'data plane paused',
  'data plane killed',
  'server of a NATS cluster',
] as const;
export type Kind = (typeof KINDS)[number];

/** One run: which data planes get load, and what breaks meanwhile. */
export interface Schedule {
  readonly kind: Kind;
  /** A second route has load on these data planes only. The first one has load on all. */
  readonly someDataPlanes: readonly number[];
  /** They run at the same time, from the end of the first whole window. */
  readonly faults: readonly FaultSequence[];
}

const dataPlane = fc.nat(DATA_PLANES - 1);
const between = (min: number, max: number) => fc.integer({ min, max });

const natsKilled: fc.Arbitrary<Fault> = fc.record({
  what: fc.constant('nats_killed' as const),
  forMs: between(500, 3000),
});
const natsPaused: fc.Arbitrary<Fault> = fc.record({
  what: fc.constant('nats_paused' as const),
  forMs: between(300, 1500),
});
const linkCut: fc.Arbitrary<Fault> = fc.record({
  what: fc.constant('link_cut' as const),
  dataPlane,
  how: fc.constantFrom('refused', 'black_hole', 'stalled'),
  forMs: between(500, 5000),
});
const dataPlaneKilled: fc.Arbitrary<Fault> = fc.record({
  what: fc.constant('data_plane_killed' as const),
  dataPlane,
  folder: fc.constantFrom('kept', 'kept', 'gone'),
  forMs: between(0, 1000),
});
const dataPlanePaused: fc.Arbitrary<Fault> = fc.record({
  what: fc.constant('data_plane_paused' as const),
  dataPlane,
  forMs: between(300, 3000),
});

const serverLost: fc.Arbitrary<Fault> = fc.record({
  what: fc.constantFrom('nats_server_killed' as const, 'nats_server_paused' as const),
  leads: fc.boolean(),
  forMs: between(300, 6000),
});

/** Somewhere in the window after the first whole one. */
const once = (fault: fc.Arbitrary<Fault>): fc.Arbitrary<FaultSequence> =>
  fc.tuple(fc.tuple(between(0, 2000), fault));
const inARow = (fault: fc.Arbitrary<Fault>): fc.Arbitrary<FaultSequence> =>
  fc.array(fc.tuple(between(20, 1500), fault), { minLength: 2, maxLength: 3, size: 'max' });

const nats = fc.oneof(natsKilled, natsPaused);
const FAULTS: Readonly<Record<Kind, fc.Arbitrary<readonly FaultSequence[]>>> = {
  'NATS killed': fc.tuple(once(natsKilled)),
  'NATS paused': fc.tuple(once(natsPaused)),
  'link cut': fc.tuple(once(linkCut)),
  several: fc.oneof(fc.tuple(inARow(nats)), fc.tuple(inARow(nats), once(linkCut))),
  'data plane paused': fc.oneof(
    fc.tuple(once(dataPlanePaused)),
    fc.tuple(once(dataPlanePaused), once(nats)),
  ),
  'data plane killed': fc.oneof(
    fc.tuple(once(dataPlaneKilled)),
    fc.tuple(once(dataPlaneKilled), once(nats)),
  ),
  'server of a NATS cluster': fc.oneof(fc.tuple(once(serverLost)), fc.tuple(inARow(serverLost))),
};

/** Whether schedules of a kind need a NATS of three servers. */
export function needsCluster(kind: Kind): boolean {
  return kind === 'server of a NATS cluster';
}

/** The same schedules for the same seed. */
export function randomSchedules(kind: Kind, count: number, seed: number): readonly Schedule[] {
  const schedule: fc.Arbitrary<Schedule> = fc.record({
    kind: fc.constant(kind),
    someDataPlanes: fc.subarray([...Array(DATA_PLANES).keys()], {
      minLength: 1,
      maxLength: DATA_PLANES - 1,
    }),
    faults: FAULTS[kind],
  });
  return fc.sample(fc.noBias(schedule), { seed: seed + KINDS.indexOf(kind), numRuns: count });
}
