/** Loaded before a process: its wall clock is ahead by CLOCK_SKEW_MS, as that of a machine which nobody set. */

const skewMs = Number(process.env['CLOCK_SKEW_MS']);
if (!Number.isFinite(skewMs)) throw new Error('CLOCK_SKEW_MS must be a number');

const RealDate = Date;
const now = (): number => RealDate.now() + skewMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, property, receiver) =>
    property === 'now' ? now : (Reflect.get(target, property, receiver) as unknown),
});
