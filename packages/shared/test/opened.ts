import { afterEach } from '@jest/globals';

type Opened = { close(): unknown } | { stop(): unknown } | { destroy(): unknown };

/** Returns a function that registers what a test opens. After the test everything is closed, last opened first. */
export function closeAfterEach(): <T extends Opened>(one: T) => T {
  const opened: Opened[] = [];
  afterEach(async () => {
    for (let one = opened.pop(); one !== undefined; one = opened.pop()) {
      if ('stop' in one) await one.stop();
      else if ('close' in one) await one.close();
      else one.destroy();
    }
  });
  return (one) => {
    opened.push(one);
    return one;
  };
}
